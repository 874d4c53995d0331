# Item 3: the same in a language for which the referee has advice. It is not executable, so
# it is run by the interpreter that its ending names.
{ answers = answers "- A\n" }
END { printf "%s", answers }
