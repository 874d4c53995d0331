#!/bin/sh
# Item 5: good answers, but without end.
read -r request
exec yes A
