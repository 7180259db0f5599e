#!/bin/sh
# kafka-run-class.sh [-daemon] [-name NAME] [-loggc] [JAVA OPTIONS] CLASS [WORDS]
# Runs the class of the legacy tool, and hands every other class to the Kafka whose script this one stands before:
# that of LEGACY_MM_KAFKA_HOME or KAFKA_HOME, one kept beside this script (kafka-run-class.sh.orig), or one on the PATH.
# MirrorMaker 2's driver is ours where connect-mirror-maker.sh beside this script asks for it, or where no Kafka has it.
here=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd -P) || exit 1

class_among() { # prints the first word that is neither an option nor the value of one
    while [ $# -gt 0 ]; do
        case $1 in
            -name | -cp | -classpath | --class-path | -p | --module-path | \
                --add-opens | --add-exports | --add-modules | --add-reads)
                shift
                [ $# -eq 0 ] || shift
                ;;
            -*) shift ;;
            *) break ;;
        esac
    done
    echo "${1-}"
}

hand_over() { # becomes the first kafka-run-class that is not ours, or returns
    folders=${LEGACY_MM_KAFKA_HOME:+$LEGACY_MM_KAFKA_HOME/bin:}${KAFKA_HOME:+$KAFKA_HOME/bin:}
    folders=$folders$(dirname -- "$0"):$here:$PATH
    IFS=:
    for folder in $folders; do
        for script in "$folder"/kafka-run-class.sh "$folder"/kafka-run-class.sh.* "$folder"/kafka-run-class; do
            if [ -f "$script" ] && [ -x "$script" ] && ! grep -q LEGACY_MM_KAFKA_HOME "$script"; then
                unset IFS
                exec "$script" "$@"
            fi
        done
    done
    unset IFS
}

refuse() {
    echo "kafka-run-class.sh: '$class' is not in legacy-mm: name the Kafka that has it with LEGACY_MM_KAFKA_HOME" >&2
    exit 1
}

find_python() { # sets `python`, and `look` where its own name does not make `ps` show a java
    python='' look=''
    if [ -f "$here/../setup.cfg" ]; then # a checkout
        python=$here/../.venv/libexec/java
        [ -x "$python" ] || "$here/setup" >&2 || exit 1
    elif [ -f "$here/../pyvenv.cfg" ]; then # a virtual environment; the link works because that file is above it
        python=$here/../libexec/java
        [ -x "$python" ] || { mkdir -p -- "$here/../libexec" && ln -s ../bin/python "$python"; } 2>/dev/null
    fi
    [ -x "$python" ] && return
    look='-X java'
    for python in "$(sed -n '1s/^#!\(.*python[^/]*\)$/\1/p' "$here/legacy-mm" 2>/dev/null)" "$here/python3" "$here/python"; do
        [ -x "$python" ] && return
    done
    echo "kafka-run-class.sh: no Python beside $here: install legacy-mm into a virtual environment" >&2
    exit 1
}

if [ $# -eq 0 ]; then
    echo "USAGE: $0 [-daemon] [-name servicename] [-loggc] classname [opts]"
    exit 1
fi
class=$(class_among "$@")
case $class in
kafka.tools.MirrorMaker) ;;
org.apache.kafka.connect.mirror.MirrorMaker)
    case " $* " in
    *" -Dkafka.script=connect-mirror-maker.sh "*) ;;
    *) hand_over "$@" ;;
    esac
    ;;
*) hand_over "$@" && refuse ;;
esac

home=${LEGACY_MM_KAFKA_HOME:-${KAFKA_HOME:-$(dirname -- "$here")}}
LOG_DIR=${LOG_DIR:-$home/logs}
export LOG_DIR # our log4j reader takes it for kafka.logs.dir, which the old script passed
name='' daemon='' gc_log=${GC_LOG_ENABLED-} console=''
while :; do
    case $1 in
        -name) name=$2 console=$LOG_DIR/$2.out && shift 2 ;;
        -daemon) daemon=yes && shift ;;
        -loggc)
            [ -n "${KAFKA_GC_LOG_OPTS-}" ] || gc_log=true
            shift
            ;;
        *) break ;;
    esac
done
find_python
if [ -n "${KAFKA_LOG4J_OPTS-}" ]; then # only then did the old script make the folder (contract 2.2)
    mkdir -p -- "$LOG_DIR"
fi
if [ "$gc_log" = true ]; then
    KAFKA_GC_LOG_OPTS="-Xlog:gc*:file=$LOG_DIR/$name-gc.log:time,tags:filecount=10,filesize=100M"
    export KAFKA_GC_LOG_OPTS
fi
# Java knows no such variables: another pyspark, on a Spark host, must not shadow ours. -P: nor what lies in the working
# directory. And kafka-python reads nothing right without its asserts.
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONWARNINGS PYTHONOPTIMIZE
if [ -z "$daemon" ]; then
    exec "$python" -P $look -m legacy_mm "$@"
fi
# Without -name, or without the folder, the old script failed at the redirection and still exited 0.
if [ -n "$console" ] && [ -d "$LOG_DIR" ]; then
    true >|"$console" # appended to: logrotate's copytruncate empties it while it is open
    nohup "$python" -P $look -m legacy_mm "$@" >>"$console" 2>&1 </dev/null &
else
    echo "$0: $console: No such file or directory" >&2
fi
