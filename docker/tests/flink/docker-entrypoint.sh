#!/bin/sh
# In the place of the entry point of Flink's image, which is in no registry of packages: starts a JobManager with a job
# (standalone-job) or a TaskManager (taskmanager). Like Flink's scripts it lets BashJavaUtils compute the sizes of memory.
set -eu
role=$1
shift
export FLINK_LIB_DIR=/opt/flink/lib FLINK_CONF_DIR=/opt/flink/conf
case $role in
standalone-job)
    class=org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint
    command=GET_JM_RESOURCE_PARAMS ;;
taskmanager)
    class=org.apache.flink.runtime.taskexecutor.TaskManagerRunner
    command=GET_TM_RESOURCE_PARAMS ;;
*)
    exec "$role" "$@" ;;
esac
classes='/opt/flink/lib/*'
computed=$(java -cp "$classes" org.apache.flink.runtime.util.bash.BashJavaUtils "$command" --configDir "$FLINK_CONF_DIR" "$@" |
    sed -n 's/^BASH_JAVA_UTILS_EXEC_RESULT://p')
sizes=$(printf '%s\n' "$computed" | sed -n 1p)
dynamic=$(printf '%s\n' "$computed" | sed -n 2p)
opened=$(sed -n 's/^env\.java\.opts\.all: //p' "$FLINK_CONF_DIR/config.yaml")
# The words of the three variables are separate arguments.
# shellcheck disable=SC2086
exec java $sizes $opened -Dlog4j2.configurationFile=/opt/flink/conf/log4j-console.properties -cp "$classes" "$class" \
    --configDir "$FLINK_CONF_DIR" $dynamic "$@"
