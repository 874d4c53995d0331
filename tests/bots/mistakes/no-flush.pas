{ No flush in Pascal

  `writeln` to a program keeps 256 bytes back. }
program NoFlush;
var line: string;
begin
  while not eof do begin
    readln(line);
    writeln('- A');
  end;
end.
