(* Reads a question a line, and prints the answer of strategy.ml. *)
let () =
  try
    while true do
      let line = input_line stdin in
      let board, piece = (String.sub line 0 16, line.[17]) in
      let indices = List.init 16 Fun.id in
      let free = List.filter (fun index -> board.[index] = '.') indices in
      let cells = if piece = '-' then [ "-" ] else List.map (fun index -> string_of_int (index + 1)) free in
      let symbols = List.map (fun index -> Char.chr (Char.code 'A' + index)) indices in
      let left = List.filter (fun symbol -> not (String.contains line symbol)) symbols in
      let cell, gift = Strategy.choose cells (if left = [] then [ '-' ] else left) in
      Printf.printf "%s %c\n%!" cell gift
    done
  with End_of_file -> ()
