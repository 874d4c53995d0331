#!/usr/bin/env perl
# Moves into the process group of the referee, and neither answers nor ends: not when its input ends,
# and not when it is asked to with SIGTERM. Makes the file $SCRATCH/left.
use strict;
use warnings;

$SIG{TERM} = 'IGNORE';
$SIG{HUP} = 'IGNORE';
setpgrp 0, getpgrp getppid or die "setpgrp: $!";
open my $file, '>', "$ENV{SCRATCH}/left" or die "left: $!";
close $file;
sleep 1 while 1;
