#!/bin/bash
# Submits a run in parts to Slurm, and the job that joins the parts.
set -euo pipefail

usage() {
    cat <<'END'
Usage: submit.sh -o OUT -n PARTS [-c CPUS] [-g GPUS] [-r] [-s OPTION]... -- [swalign options] QUERY REFERENCE

Submits an array of PARTS tasks, and a job that joins their output into OUT after the last task. The extension of
OUT is the format: .bam, .sam or .paf. For swalign search it may be another one; give --format after the --. Parts
and logs are written to OUT.parts. If a task fails, the same command runs only the missing parts. Prints the
numbers of both jobs: ARRAY MERGE.

  -o OUT      Write the joined output to OUT
  -n PARTS    Divide the run into PARTS parts
  -c CPUS     Request CPUS CPUs per task [default: 1]
  -g GPUS     Request GPUS GPUs per task, as --gres=gpu:GPUS [default: none]
  -r          Divide the references (--ref-part) instead of the queries
  -s OPTION   Pass OPTION to sbatch for all jobs, such as -s --partition=long; may be repeated
  -a OPTION   Pass OPTION to sbatch for the tasks only, such as -a --time=2:00:00; may be repeated
  -h          Print help

The program is $SWALIGN, or swalign in PATH. Example:
  submit.sh -o run.bam -n 200 -c 8 -a --mem=4G -- --preset long reads.fq.gz genome.fa
END
}
die() {
    printf 'submit.sh: %s\n' "$*" >&2
    exit 2
}

out='' parts='' cpus=1 both=(--parsable) tasks=() share=()
while getopts :o:n:c:g:rs:a:h option; do
    case $option in
        o) out=$OPTARG ;;
        n) parts=$OPTARG ;;
        c) cpus=$OPTARG ;;
        g) tasks+=("--gres=gpu:$OPTARG") ;;
        r) share=(-r) ;;
        s) both+=("$OPTARG") ;;
        a) tasks+=("$OPTARG") ;;
        h)
            usage
            exit 0
            ;;
        :) die "-$OPTARG needs a value; -h prints help" ;;
        *) die "unknown option -$OPTARG; give swalign's own options after --; -h prints help" ;;
    esac
done
shift $((OPTIND - 1))
[ -n "$out" ] || die "no -o OUT; -h prints help"
case $parts in '' | 0* | *[!0-9]*) die "-n '$parts': give the number of parts, 1 or more" ;; esac
case $cpus in '' | 0* | *[!0-9]*) die "-c '$cpus': give a number, 1 or more" ;; esac
[ $# -gt 0 ] || die "nothing after --; -h prints help"
name=${out##*/}
format=${name##*.}
case $format in '' | "$name" | *[!A-Za-z0-9]*) die "$out: give it an extension, such as .bam" ;; esac

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
dir=$out.parts
# Slurm opens the logs before a task begins, and makes no folder for them. In their names % begins a
# pattern.
mkdir -p -- "$dir/logs"
logs=${dir//%/%%}/logs

# An empty array is an error to bash before 4.4, hence the +.
array=$(sbatch "${both[@]}" ${tasks[@]+"${tasks[@]}"} "--array=1-$parts" -c "$cpus" "--output=$logs/%a.log" \
    "$here/swalign-array.sbatch" -o "$dir" -n "$parts" -f "$format" ${share[@]+"${share[@]}"} -- "$@")
array=${array%%;*} # on a federation: JOB;CLUSTER
merge=$(sbatch "${both[@]}" "--dependency=afterok:$array" --kill-on-invalid-dep=yes "--output=$logs/merge.log" \
    "$here/swalign-merge.sbatch" -i "$dir" -n "$parts" -f "$format" -- "$out")
printf '%s %s\n' "$array" "${merge%%;*}"
