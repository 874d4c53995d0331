#!/usr/bin/env -S guile --no-auto-compile -s
!#
;;; A random player: any free cell, any piece left.
;;;
;;; Run it:  ./random.scm  or  guile random.scm      (Debian package: guile-3.0)
;;; It reads requests `BOARD PIECE' and answers `CELL GIFT'; see ../protocol.md.

(use-modules (ice-9 rdelim) (srfi srfi-1))

;; Guile takes the encoding from the locale, but the wire is always UTF-8.
(set-port-encoding! (current-input-port) "UTF-8")
(set-port-encoding! (current-output-port) "UTF-8")

(define (setting name)
  "The environment variable NAME, or #f when it is unset or empty."
  (let ((value (getenv name)))
    (and value (not (string-null? value)) value)))

(define random-numbers
  (let ((seed (string->number (or (setting "REFEREE_SEED") ""))))
    (if seed
        (seed->random-state seed)
        (random-state-from-platform))))

(define (choose items)
  (list-ref items (random (length items) random-numbers)))

(define (read-lines port)
  (let ((line (read-line port)))
    (if (eof-object? line)
        '()
        (cons line (read-lines port)))))

(define (row-piece row)
  "The character at the start of a CSV row; a quoted field keeps it second."
  (string-ref row (if (char=? (string-ref row 0) #\") 1 0)))

(define (trim-row row)
  "ROW without blanks, carriage return and byte order mark at its ends."
  (string-trim-both row (lambda (c)
                          (or (char-whitespace? c) (char=? c #\xfeff)))))

(define pieces
  (let ((path (setting "REFEREE_PIECES")))
    (if path
        (let ((rows (call-with-input-file path read-lines #:encoding "UTF-8")))
          (map row-piece                ; without the header and blank lines
               (cdr (remove string-null? (map trim-row rows)))))
        (string->list "ABCDEFGHIJKLMNOP"))))

(define (answer board hand)
  (let ((cells (filter (lambda (cell)
                         (char=? (string-ref board (- cell 1)) #\.))
                       (iota 16 1)))
        (left (remove (lambda (piece)
                        (or (string-index board piece) (char=? piece hand)))
                      pieces)))
    (format (current-error-port) "info gifts ~a\n" (length left)) ; what it thinks, for its record
    (force-output (current-error-port))
    (format #t "~a ~a\n"
            (if (char=? hand #\-) "-" (choose cells))
            (if (null? left) "-" (choose left)))
    (force-output)))

(let loop ((line (read-line)))
  (unless (eof-object? line)
    (let ((words (string-tokenize line)))
      (answer (first words) (string-ref (second words) 0)))
    (loop (read-line))))
