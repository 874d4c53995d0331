#!/usr/bin/env tclsh
# A random player: any free cell, any piece left.
#
# Run it:  ./random.tcl  or  tclsh random.tcl      (Debian package: tcl)
# It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

# The value of an environment variable, empty when it is unset.
proc setting {name} {
    global env
    return [expr {[info exists env($name)] ? $env($name) : ""}]
}

# One of the items; `-` when there is none.
proc choose {items} {
    if {[llength $items] == 0} {
        return -
    }
    return [lindex $items [expr {int(rand() * [llength $items])}]]
}

# Bytes are read and written as they are. A piece may be several of them, as Tcl 8 knows
# no characters beyond U+FFFF.
proc readPieces {} {
    set path [setting REFEREE_PIECES]
    if {$path eq ""} {
        return [split ABCDEFGHIJKLMNOP ""]
    }
    set file [open $path rb]
    set rows [split [read $file] \n]
    close $file
    set pieces {}
    foreach row [lrange $rows 1 end] {
        # Without the header: the first character of each row that is not blank; the field may be quoted.
        if {[regexp {^\s*"?(\S[\x80-\xbf]*)} $row -> piece]} {
            lappend pieces $piece
        }
    }
    return $pieces
}

fconfigure stdin -translation binary
fconfigure stdout -translation binary -buffering line ;# flush after each line

if {[setting REFEREE_SEED] ne ""} {
    expr {srand([setting REFEREE_SEED])}
}
set pieces [readPieces]

while {[gets stdin line] >= 0} {
    lassign [split $line " "] board hand
    # Mark the taken cells with `-`, which makes every cell one byte; collect the rest.
    set left {}
    foreach piece $pieces {
        if {[string first $piece $board] >= 0} {
            set board [string map [list $piece -] $board]
        } elseif {$piece ne $hand} {
            lappend left $piece
        }
    }
    set cells {}
    if {$hand ne "-"} {
        for {set i 0} {$i < 16} {incr i} {
            if {[string index $board $i] eq "."} {
                lappend cells [expr {$i + 1}]
            }
        }
    }
    puts stderr "info gifts [llength $left]" ;# what it thinks, for its record
    puts "[choose $cells] [choose $left]"
}
