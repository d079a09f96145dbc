# Sourced by the programs of this directory.
java_of_kafka() {
  java ${KAFKA_HEAP_OPTS:--Xmx256m} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 $KAFKA_OPTS -cp '/opt/kafka/libs/*' "$@"
}
