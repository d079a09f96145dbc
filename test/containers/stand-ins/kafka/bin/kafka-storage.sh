#!/bin/bash
. /opt/kafka/bin/java.sh
java_of_kafka kafka.tools.StorageTool "$@"
