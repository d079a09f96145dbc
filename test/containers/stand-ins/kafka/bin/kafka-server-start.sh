#!/bin/bash
exec java ${KAFKA_HEAP_OPTS:--Xmx1G -Xms1G} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 $KAFKA_OPTS \
  -cp '/opt/kafka/libs/*' kafka.Kafka "$@"
