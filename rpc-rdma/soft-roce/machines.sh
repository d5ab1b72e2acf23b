# Functions to boot virtual machines and to speak with them; sourced by run, pair and guest.
# Each machine has a directory $machines/N: pid, console.log, jobs/, ready, settings, and the fifos
# control.in (what init reads) and monitor.in (what the emulator reads).
# shellcheck shell=bash

# Exit codes for what is not the command's own doing, as timeout(1) has them.
timed_out=124
machine_died=125

# build_for COMMAND...: builds on this host what the command runs in a machine, where compilers are
# emulated and no library can be loaded; above all the native library, which whatever was built before
# its headers came is without. Fails in the caller's way.
build_for() {
  local word
  for word in "$@"; do
    if [ "$(realpath -m -- "$word")" = "$root/examples/run" ]; then
      "$root/examples/run" --build || fail 'no examples to run: examples/run --build failed'
    fi
  done
  [ -d "$root/rpc-rdma/target/classes" ] || return 0
  has_native || "$root/rpc-rdma/soft-roce/suite" --build || fail 'no native library: its build failed'
  has_native || fail "no native library in $root/rpc-rdma/target/classes/native, and the build made none"
}

has_native() {
  compgen -G "$root/rpc-rdma/target/classes/native/*/libringfetch-verbs.so" >/dev/null
}

# make_machine N ADDRESS ADDRESS6 HOSTS OUTPUT: a directory for a machine yet to boot.
make_machine() {
  local directory=$machines/$1
  mkdir -p "$directory/control/jobs" "$5"
  mkfifo "$directory"/{control,monitor}.{in,out}
  printf '%s=%q\n' name "roce$1" address "$2" address6 "$3" hosts "$4" output "$5" \
    >"$directory/control/settings"
}

# boot N IMAGE ACCELERATOR MEMORY CPUS OUTPUT NETWORK...: starts the emulator in the background.
boot() {
  local directory=$machines/$1 image=$2 accelerator=$3 memory=$4 cpus=$5 output=$6
  # What init and the monitor answer is of no use, but must go somewhere.
  # pdeathsig: none outlives this shell, however that ends; not even who waits for a fifo's other end.
  setpriv --pdeathsig KILL cat "$directory/control.out" >/dev/null &
  setpriv --pdeathsig KILL cat "$directory/monitor.out" >"$directory/monitor.log" &
  # The clock is the kernel's own choice, hpet, though it takes a microsecond or two to read: tsc would
  # be measured at boot, which a busy host can disturb.
  # no_timer_check: on a busy host the timer may miss the check at boot, and the kernel would panic.
  # -erms, -fsrm: the kernel then copies words, and not bytes, for rxe, which has no DMA. An emulated
  # copy of bytes shows halves of words to whoever looks meanwhile, as no device does.
  setpriv --pdeathsig KILL qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot \
    -accel "$accelerator" -cpu max,-erms,-fsrm -m "$memory" -smp "$cpus" \
    -kernel "$image/kernel" -initrd "$image/initramfs" \
    -append 'console=ttyS0 quiet panic=-1 mitigations=off no_timer_check' \
    -serial "file:$directory/console.log" \
    -serial "pipe:$directory/control" -monitor "pipe:$directory/monitor" \
    -virtfs "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap" \
    -virtfs "local,path=$directory/control,mount_tag=control,security_model=none" \
    -virtfs "local,path=$output,mount_tag=output,security_model=none,multidevs=remap" \
    "${@:7}" </dev/null >"$directory/emulator.log" 2>&1 &
  echo $! >"$directory/pid"
  # Or the shell would report that it was killed, when it was.
  disown $!
}

alive() {
  [ -f "$machines/$1/pid" ] && kill -0 "$(cat "$machines/$1/pid")" 2>/dev/null
}

# await N SECONDS FILE: until the file is there. Fails when the machine ends first, or time is up.
await() {
  local end=$((SECONDS + $2))
  until [ -e "$3" ]; do
    # Once more after its end: the file may have come last.
    alive "$1" || { [ -e "$3" ] && return; } || return "$machine_died"
    [ "$SECONDS" -lt "$end" ] || return "$timed_out"
    sleep 0.05
  done
}

# await_boot N: until it takes jobs: seconds, but minutes on a busy host. Ends this shell if it never does.
await_boot() {
  local status=0
  await "$1" 300 "$machines/$1/control/ready" || status=$?
  [ "$status" -eq 0 ] && return
  echo "soft-roce: machine $1 does not start" >&2
  exit "$machine_died"
}

# tell N FIFO LINE: opened both ways, as opening a fifo that nobody reads would block.
tell() {
  alive "$1" && echo "$3" 1<>"$machines/$1/$2.in"
}

# guest_script COMMAND [arguments]: what the guest's shell shall do: in the project's directory, with
# the caller's path and home, and so its JDK and its Maven repository.
guest_script() {
  printf 'cd %q\nexport' "$root"
  printf ' %q' HOME="$HOME" PATH="$PATH" LANG="${LANG:-C.UTF-8}" ${JAVA_HOME:+JAVA_HOME="$JAVA_HOME"} \
    ${RINGFETCH_JVM_FLAGS:+RINGFETCH_JVM_FLAGS="$RINGFETCH_JVM_FLAGS"}
  printf '\nexec'
  printf ' %q' "$@"
}

# start_job N SCRIPT: sets $job.
start_job() {
  local directory
  directory=$(mktemp -d "$machines/$1/control/jobs/XXXXXX")
  job=${directory##*/}
  printf '%s\n' "$2" >"$directory/command"
  : >"$directory/output"
  tell "$1" control "run $job" || return "$machine_died"
}

# follow_job N JOB SECONDS: streams what the job prints, and returns its exit code.
follow_job() {
  local directory=$machines/$1/control/jobs/$2 waiter status=0
  await "$1" "$3" "$directory/exit" &
  waiter=$!
  tail -s 0.1 -n +1 -f --pid "$waiter" "$directory/output"
  wait "$waiter" || status=$?
  [ "$status" -ne 0 ] || status=$(cat "$directory/exit")
  return "$status"
}

# power_off N: as if the plug were pulled.
power_off() {
  alive "$1" || return 0
  kill -KILL "$(cat "$machines/$1/pid")"
  while alive "$1"; do sleep 0.05; done
}

# console N: the last that the kernel and the emulator had to say.
console() {
  tail -n "${2:-60}" "$machines/$1/emulator.log" "$machines/$1/console.log" 2>/dev/null | tr -d '\r'
}

# keep_console N DIRECTORY: for who wants to know more later.
keep_console() {
  cp -f "$machines/$1/console.log" "$2/console-$1.log" 2>/dev/null || true
}
