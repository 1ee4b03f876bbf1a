#!/bin/bash
# Submits a run in parts to Slurm, and the job that joins the parts.
set -euo pipefail

usage() {
    cat <<'END'
Usage: submit.sh -o OUT -n PARTS [-c CPUS] [-g GPUS] [-r] [-s OPTION]... -- [swalign options] QUERY REFERENCE

Submits an array of PARTS tasks, and behind it a job that joins them into OUT. The extension of OUT (.bam,
.sam or .paf) is the format; for swalign search it may be another one, with --format behind the --. The
parts and their logs go to OUT.parts. After a failure the same line runs only what is missing. The numbers
of both jobs are printed: ARRAY MERGE.

  -o OUT      the joined output
  -n PARTS    number of parts
  -c CPUS     CPUs of a task [default: 1]
  -g GPUS     GPUs of a task, asked for as --gres=gpu:GPUS [default: none]
  -r          parts of the references (--ref-part) instead of the queries
  -s OPTION   an option for sbatch, for the tasks and the join; can be repeated: -s --partition=long
  -a OPTION   the same for the tasks only: -a --time=2:00:00 -a --mem=4G
  -h          this text

The program is SWALIGN, else swalign from PATH. Example:
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
        :) die "-$OPTARG needs a value; -h prints the usage" ;;
        *) die "unknown option -$OPTARG; swalign's own options stand after --, and -h prints the usage" ;;
    esac
done
shift $((OPTIND - 1))
[ -n "$out" ] || die "no -o OUT; -h prints the usage"
case $parts in '' | 0* | *[!0-9]*) die "-n '$parts': give the number of parts, 1 or more" ;; esac
case $cpus in '' | 0* | *[!0-9]*) die "-c '$cpus': give a number, 1 or more" ;; esac
[ $# -gt 0 ] || die "nothing after --; -h prints the usage"
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
