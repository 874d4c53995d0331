#!/usr/bin/env -S sbcl --script
;;; A random player: any free cell, any piece left.
;;;
;;; Run it:  ./random.lisp  or  sbcl --script random.lisp      (Debian package: sbcl)
;;; It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

;; The wire is UTF-8, whatever the locale says.
(defvar *input* (sb-sys:make-fd-stream 0 :input t :external-format :utf-8 :buffering :line))
(defvar *output* (sb-sys:make-fd-stream 1 :output t :external-format :utf-8 :buffering :line))

(defun setting (name)
  "The environment variable NAME, or NIL when it is unset or empty."
  (let ((value (sb-ext:posix-getenv name)))
    (if (equal value "") nil value)))

(defun row-piece (row)
  "The character at the start of a CSV row; a quoted field has it second."
  (char row (if (char= (char row 0) #\") 1 0)))

(defun read-pieces ()
  "The characters that stand for the pieces, as a list."
  (let ((path (setting "REFEREE_PIECES")))
    (if (null path)
        (coerce "ABCDEFGHIJKLMNOP" 'list)
        (with-open-file (file (sb-ext:parse-native-namestring path) :external-format :utf-8)
          (read-line file)              ; the header
          (loop for line = (read-line file nil)
                while line
                for row = (string-trim '(#\Space #\Tab #\Return) line)
                unless (string= row "") collect (row-piece row))))))

(defvar *random-numbers*
  (let ((seed (setting "REFEREE_SEED")))
    (sb-ext:seed-random-state (if seed (parse-integer seed) t)))) ; t: any

(defun choose (items)
  "One of the ITEMS; `-` when there is none."
  (if items
      (nth (random (length items) *random-numbers*) items)
      #\-))

(defun answer (board hand pieces)
  (let ((cells (unless (char= hand #\-)
                 (loop for piece across board
                       for cell from 1
                       when (char= piece #\.) collect cell)))
        (left (remove-if (lambda (piece) (or (find piece board) (char= piece hand)))
                         pieces)))
    (format *error-output* "info gifts ~a~%" (length left)) ; what it thinks, for its record
    (format *output* "~a ~a~%" (choose cells) (choose left))
    (finish-output *output*)))

(let ((pieces (read-pieces)))
  (loop for line = (read-line *input* nil)
        while line
        do (answer (subseq line 0 16) (char line 17) pieces)))
