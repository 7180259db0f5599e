#!/bin/sh
# For callers of `kafka-run-class.sh [-daemon] [-name N] [-loggc] kafka.tools.MirrorMaker ...`; no other class is here.
here=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd -P) || exit 1

if [ $# -eq 0 ]; then
    echo "USAGE: $0 [-daemon] [-name servicename] [-loggc] classname [opts]"
    exit 1
fi
LOG_DIR=${LOG_DIR:-$(dirname -- "$here")/logs}
name='' daemon='' gc_log='' console=''
while [ $# -gt 0 ]; do
    case $1 in
        -name) name=${2-} console=$LOG_DIR/$name.out && shift $(($# > 1 ? 2 : 1)) ;;
        -daemon) daemon=yes && shift ;;
        -loggc) gc_log=yes && shift ;;
        *) break ;;
    esac
done
if [ "${1-}" != kafka.tools.MirrorMaker ]; then
    echo "kafka-run-class.sh: legacy-mm runs only the class kafka.tools.MirrorMaker, not '${1-}'" >&2
    exit 1
fi
shift
if [ -n "${KAFKA_LOG4J_OPTS-}" ]; then # only then did the old script make the folder (contract 2.2)
    mkdir -p -- "$LOG_DIR"
fi
if [ -n "$gc_log" ] && [ -z "${KAFKA_GC_LOG_OPTS-}" ]; then
    KAFKA_GC_LOG_OPTS="-Xlog:gc*:file=$LOG_DIR/$name-gc.log:time,tags:filecount=10,filesize=100M"
    export KAFKA_GC_LOG_OPTS
fi
if [ -z "$daemon" ]; then
    exec "$here/kafka-mirror-maker.sh" "$@"
fi
# Without -name, or without the folder, the old script failed at the redirection and still exited 0; so do we.
nohup "$here/kafka-mirror-maker.sh" "$@" >"$console" 2>&1 </dev/null &
