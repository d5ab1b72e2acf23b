# What the checks start in machines, and a server and a client that report what becomes of their
# calls; sourced by the checks, which set $root.
# shellcheck shell=bash
target=$root/rpc-rdma/target

# Runs a class of the module's tests, whose name and arguments follow.
child=("${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1
  -cp "$target/test-classes:$target/classes:$(cat "$target/test-class-path")")
link_child=("${child[@]}" dev.ringfetch.rdma.faults.LinkChild)

# count OUTPUT PATTERN: lines so far.
count() {
  grep -c "$2" "$1" || true
}

# more OUTPUT PATTERN BEFORE SECONDS: waits until there are more such lines than before; prints the
# last.
more() {
  local end=$((SECONDS + $4))
  until [ "$(count "$1" "$2")" -gt "$3" ]; do
    if [ "$SECONDS" -ge "$end" ]; then
      echo "nothing in $4 s of $2 in $1; but at last:" >&2
      tail -n 20 "$1" >&2
      return 1
    fi
    sleep 0.05
  done
  grep "$2" "$1" | tail -n 1
}

# reports OUTPUT N SECONDS: waits for so many reports of the client's, one a second; prints the last.
reports() {
  more "$1" '^calls {' "$(($(count "$1" '^calls {') + $2 - 1))" "$3"
}

# right OUTPUT: whether no call of the client's had a wrong answer, or one that came too late.
right() {
  if grep '^WRONG\|^LATE\|DATA_LOSS' "$1"; then
    cat "$1"
    return 1
  fi
}
