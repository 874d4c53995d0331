{ `-` read as a number, in Pascal

  106: `-` is read as a number. }
program RuntimeError;
var board: string[16]; piece: integer;
begin
  while not eof do begin
    readln(board, piece);
    writeln('1 ', piece);
    flush(output);
  end;
end.
