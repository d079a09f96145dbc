#!/bin/bash
. /opt/kafka/bin/java.sh
java_of_kafka org.apache.kafka.tools.GetOffsetShell "$@"
