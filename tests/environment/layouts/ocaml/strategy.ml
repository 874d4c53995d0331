let () = Random.init (int_of_string (Option.value (Sys.getenv_opt "REFEREE_SEED") ~default:"1"))
let one all = List.nth all (Random.int (List.length all))

(* A cell for the piece, and a piece for the opponent. *)
let choose cells left = (one cells, one left)
