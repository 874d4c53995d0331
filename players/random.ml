(* A random player: any free cell, any piece left.

   Run it:  ocaml random.ml      (Debian package: ocaml-nox)
   Build:   make build/random-ml
   It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md. *)

(* The value of an environment variable, unless it is unset or empty. *)
let setting name =
  match Sys.getenv_opt name with Some "" | None -> None | value -> value

(* OCaml's strings are bytes; a character of UTF-8 is up to four of them. *)
let first_character text =
  let length =
    match text.[0] with
    | '\x00' .. '\x7f' -> 1
    | '\x80' .. '\xdf' -> 2
    | '\xe0' .. '\xef' -> 3
    | _ -> 4
  in
  String.sub text 0 length

let rec characters text =
  if text = "" then []
  else
    let first = first_character text in
    let length = String.length first in
    first :: characters (String.sub text length (String.length text - length))

let rec read_lines channel =
  match input_line channel with
  | line -> line :: read_lines channel
  | exception End_of_file -> []

(* The piece of a row; the field may be quoted. *)
let row_piece row =
  first_character
    (if row.[0] = '"' then String.sub row 1 (String.length row - 1) else row)

let pieces =
  match setting "REFEREE_PIECES" with
  | None -> characters "ABCDEFGHIJKLMNOP"
  | Some path ->
      List.tl (read_lines (open_in path)) (* without the header *)
      |> List.map String.trim
      |> List.filter (fun row -> row <> "")
      |> List.map row_piece

(* One of the items; `-` when there is none. *)
let choose = function
  | [] -> "-"
  | items -> List.nth items (Random.int (List.length items))

let answer line =
  let board, hand =
    match String.split_on_char ' ' line with
    | [ board; hand ] -> (characters board, hand)
    | _ -> failwith ("not a request: " ^ line)
  in
  let cells =
    List.mapi (fun i piece -> (string_of_int (i + 1), piece)) board
    |> List.filter (fun (_, piece) -> piece = "." && hand <> "-")
    |> List.map fst
  in
  let left =
    List.filter (fun piece -> piece <> hand && not (List.mem piece board)) pieces
  in
  Printf.eprintf "info gifts %d\n%!" (List.length left) (* what it thinks, for its record *);
  let cell = choose cells in
  cell ^ " " ^ choose left

let () =
  (match setting "REFEREE_SEED" with
  | Some seed -> Random.init (int_of_string seed)
  | None -> Random.self_init ());
  try
    while true do
      print_endline (answer (input_line stdin)) (* print_endline flushes *)
    done
  with End_of_file -> ()
