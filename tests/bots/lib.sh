# No bot: what the bots in this directory share. They read it with `. "${0%/*}/lib.sh"`.
#
# Tests give them two variables: REFEREE_BIN, the path of the referee, and SCRATCH, a
# directory of the test's own.

# answer REQUEST: prints a legal answer to it.
answer() {
    printf '%s\n' "$1" | "$REFEREE_BIN" bot random
}
