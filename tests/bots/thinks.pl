#!/usr/bin/env perl
# thinks.pl CPU SLEEP [HELPER]: for every answer uses CPU milliseconds of processor time and sleeps for
# SLEEP milliseconds. With a third argument a child process computes while this one waits for it; with `fresh`, new
# ones of 10 ms each for every answer, one after another.
# Answers the first free cell and the first piece that is left.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime sleep CLOCK_PROCESS_CPUTIME_ID);

$| = 1;
my ($cpu, $sleep, $helper) = (@ARGV, '');

sub compute {
    my $end = clock_gettime(CLOCK_PROCESS_CPUTIME_ID) + $cpu / 1000;
    1 while clock_gettime(CLOCK_PROCESS_CPUTIME_ID) < $end;
}

if ($helper eq 'fresh') {
    my $here = \&compute;
    my $all = $cpu;
    $cpu = 10 if $cpu > 10;
    no warnings 'redefine';
    *compute = sub {
        for (my $left = $all; $left > 0; $left -= $cpu) {
            my $child = fork;
            if (!$child) {
                $here->();
                exit;
            }
            waitpid $child, 0;
        }
    };
}
elsif ($helper) {
    pipe my $questions, my $ask or die "pipe: $!";
    pipe my $answers, my $answer or die "pipe: $!";
    if (!fork) {
        close $ask;
        while (sysread $questions, my $byte, 1) {
            compute;
            syswrite $answer, $byte;
        }
        exit;
    }
    close $questions;
    no warnings 'redefine';
    *compute = sub {
        syswrite $ask, '.';
        sysread $answers, my $byte, 1;
    };
}

while (my $line = <STDIN>) {
    my ($board, $piece) = split ' ', $line;
    compute() if $cpu;
    sleep $sleep / 1000 if $sleep;
    my $cell = $piece eq '-' ? '-' : index($board, '.') + 1;
    my ($gift) = grep { index("$board$piece", $_) < 0 } 'A' .. 'P';
    $gift //= '-';
    print "$cell $gift\n";
}
