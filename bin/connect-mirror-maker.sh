#!/bin/sh
# MirrorMaker 2's driver under its name: org.apache.kafka.connect.mirror.MirrorMaker, whose process keeps the PID of
# this script.
#
#     connect-mirror-maker.sh [-daemon] mm2.properties [--clusters CLUSTER ...]
#
# As in Kafka's own script, everything else is in kafka-run-class.sh beside it.
# `legacy-mm explain -- connect-mirror-maker.sh mm2.properties` says what a file means.

here=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd -P) || exit 1
home=$(dirname -- "$0")/.. # of the Kafka, Apache's or Confluent's, where a link in its bin was called
if [ -z "${LEGACY_MM_KAFKA_HOME-}" ] && { [ -d "$home/libs" ] || [ -d "$home/share/java/kafka" ]; }; then
    LEGACY_MM_KAFKA_HOME=$(CDPATH='' cd -- "$home" && pwd)
    export LEGACY_MM_KAFKA_HOME
fi
if [ $# -eq 0 ]; then
    echo "USAGE: $0 [-daemon] mm2.properties"
    exit 1
fi
daemon=''
if [ "$1" = -daemon ]; then
    daemon='-daemon -name mirrorMaker'
    shift
fi
# -D: scripts find the process by `pgrep -f connect-mirror-maker`
exec "$here/kafka-run-class.sh" $daemon -Dkafka.script=connect-mirror-maker.sh org.apache.kafka.connect.mirror.MirrorMaker "$@"
