{ A prompt in Pascal

  What is written before the answer is a part of it. }
program Prompt;
var line: string;
begin
  while not eof do begin
    readln(line);
    write('My move: ');
    writeln('- A');
    flush(output);
  end;
end.
