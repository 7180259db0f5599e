#!/bin/sh
cd "$(dirname "$0")" || exit 1
exec kafka-mirror-maker.sh --consumer.config consumer.properties --producer.config producer.properties --whitelist 'orders.*,audit' --num.streams 3
