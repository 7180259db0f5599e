#!/bin/sh
# The old command under its old name: kafka.tools.MirrorMaker, whose process keeps the PID of this script.
#
#     kafka-mirror-maker.sh --consumer.config FILE --producer.config FILE --include PATTERN
#
# As in Kafka's own script, everything else is in kafka-run-class.sh beside it:
#   - the variables that it obeys (KAFKA_HEAP_OPTS, KAFKA_OPTS, JMX_PORT, LOG_DIR ...)
#   - which Python and which Java it takes
#   - the options -daemon, -name and -loggc, which are its own and not this script's
#
# `legacy-mm options` lists what the legacy tool did not have, `legacy-mm quirks` what is different.
#
# Image builds and roles patch this script by line number: line 16 was, and is, before the first command.
# They also copy it under other names within this folder, and link to it from others.

here=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd -P) || exit 1
home=$(dirname -- "$0")/.. # of the old Kafka, Apache's or Confluent's, where a link in its bin was called
if [ -z "${LEGACY_MM_KAFKA_HOME-}" ] && { [ -d "$home/libs" ] || [ -d "$home/share/java/kafka" ]; }; then
    LEGACY_MM_KAFKA_HOME=$(CDPATH='' cd -- "$home" && pwd)
    export LEGACY_MM_KAFKA_HOME
fi
exec "$here/kafka-run-class.sh" kafka.tools.MirrorMaker "$@"
