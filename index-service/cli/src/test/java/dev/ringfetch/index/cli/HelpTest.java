package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the program says of itself, and of wrong command lines; there is no server. */
final class HelpTest {
  private static final String COMMANDS =
      "serve create drop list describe put get increment touch delete scan watch count load dump stat cluster "
          + "snapshot backup verify salvage shell";

  private static Outcome run(String... args) {
    return new Invocation("localhost:1").run(args);
  }

  private static void fitsScreen(Outcome help) {
    final List<String> lines = help.done().lines().toList();
    assertTrue(lines.size() <= 24, () -> lines.size() + " lines:\n" + help.out());
    lines.forEach(line -> assertTrue(line.length() <= 80, line));
  }

  @Test
  void listsTheCommandsOnOneScreen() {
    final Outcome help = run("--help");
    fitsScreen(help);
    for (final String command : COMMANDS.split(" ", -1)) {
      assertTrue(help.out().contains("\n  " + command + " "), command);
    }
    assertTrue(help.out().contains("Exit codes"), help.out());
  }

  @Test
  void saysItsVersion() {
    final String version = run("--version").done();
    assertTrue(version.matches("ringfetch index-server \\d+\\.\\d+\\.\\d+\\S*\\R"), version);
  }

  @Test
  void theHelpOfEachCommandFitsAScreen() {
    for (final String command : COMMANDS.split(" ", -1)) {
      final Outcome help = run(command, "--help");
      fitsScreen(help);
      assertTrue(help.out().startsWith("Usage: index " + command + " "), help.out());
      assertTrue(!help.out().contains("${"), help.out());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"search", "nearest"})
  void theHelpOfHiddenCommandsFitsAScreen(String command) {
    final Outcome help = run(command, "--help");
    fitsScreen(help);
    assertTrue(help.out().startsWith("Usage: index " + command + " "), help.out());
    assertTrue(run("--help").done().contains(command));
  }

  @Test
  void theHelpOfRecoveryFitsAScreen() {
    final Outcome help = run("cluster", "recover", "--help");
    fitsScreen(help);
    assertTrue(help.out().startsWith("Usage: index cluster recover "), help.out());
    assertTrue(run("cluster", "--help").done().contains("recover"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "|a command is missing",
        "gett a|no command 'gett'",
        "--jsn|there is no option --jsn",
        "get|KEY",
        "get a --jsn|there is no option --jsn",
        "get a --server=no/where|'no/where' is not HOST:PORT",
        "get a --server=host:99999|99999",
        "get a --timeout=soon|'soon' is not a time",
        "get a --timeout=0|longer than 0",
        "get a --key-type=int|'int'",
        "get a --key-type=long|'a' is no long",
        "get a --key-type=uuid|'a' is no uuid",
        "get a --key-type=instant|'a' is no instant",
        "get a --key-type=hex|'a' is no hex",
        "get a --index=|not empty",
        "get a b --raw|--raw is for one key",
        "put a|VALUE is missing",
        "put a b c|one operand too many: c",
        "put a b --file=x|VALUE goes without --file",
        "put a --x|follows --",
        "put a b --value-type=long|value: 'b' is no long",
        "create|name of an index is missing",
        "create a --kind=tree|'tree'",
        "create a --index=b|two names",
        "drop|name of an index is missing",
        "delete|name keys, or a range",
        "delete a --all|name keys, or a range",
        "delete a b --if-version=1|--if-version is for one key",
        "delete a --if-version=x|'x'",
        "put a b --previous --if-absent|--previous goes without --if-absent",
        "increment|KEY",
        "increment a --by=x|'x'",
        "touch a|--ttl",
        "touch a --ttl=1s --persist|--ttl",
        "touch a --at=noon|'noon' is no instant",
        "scan a|one operand too many: a",
        "scan --limit=0|'0' is less than 1",
        "scan --limit=x|'x' is not a whole number",
        "scan --where=size>5|'size' is no field",
        "scan --where=value.int32(8)|ends too early",
        "scan --where=value.int99(8)=1|'int99' is no type",
        "scan --where=value.unsigned(8)=1|a field has two numbers here: (offset,length)",
        "scan --where=key(0,3,9)='x'|a field has two numbers here: (offset,length)",
        "scan --where=value.int32(8,4)=1|(offset) is all that value.int32 takes",
        "scan --where=value.int32(4294967304)=1|'4294967304' is no offset or length",
        "scan --where=version>=9223372036854775808|'9223372036854775808' is no whole number of 64",
        "scan --where=value.int32(8=1|')' is missing before '='",
        "scan --where=value.int32(8)~1|'~1' is not understood",
        "scan --where=version=1=2|'=' is behind its end",
        "scan --where=version=x|'x' is no whole number of 64 bits",
        "scan --where=value=x|x is neither 'text' nor bytes",
        "count --where=version.x=1|'version.x' is no field",
        "scan --from=b --to=a|no key is between",
        "scan --prefix=a --to=b|--prefix goes without",
        "scan --prefix=1 --key-type=long|--prefix needs keys of type string or hex, not long",
        "scan --direct --snapshot|without --direct",
        "watch --key=a --prefix=b|--key goes without --prefix",
        "watch --prefix=1 --key-type=long|--prefix needs keys of type string or hex, not long",
        "watch --from=*|'*' is no token",
        "watch --box=1,1 --key=a|--box goes without",
        "count --box=1,1 --from=a|--box goes without a range",
        "watch --box=1|neither X,Y nor",
        "watch a --index=b|two names",
        "load|FILE",
        "load a --format=xml|'xml'",
        "load a --box=x|two or four fields, not 1",
        "search --at=1,1 --box=1,1|one of --box, --within and --at",
        "search --at=x,1|'x' is not a number",
        "search --box=1,NaN|not a box",
        "nearest|--at",
        "nearest --at=1|is not X,Y",
        "nearest --at=0,91 --earth|latitude between -90 and 90",
        "nearest --at=0,-90 --earth|latitude between -90 and 90",
        "nearest --at=181,0 --earth|longitude from -180 to 180",
        "nearest --at=0,0 --distance=-1|--distance is not negative",
        "nearest --at=0,0 --distance=NaN|--distance is not negative",
        "nearest --at=0,0 -n 1001|--limit is at most 1000",
        "load a --delimiter=ab|one ASCII character",
        "serve --port=x|'x'",
        "serve --port=99999|99999",
        "stat --interval=0s|longer than 0",
        "scan --limit=1 --limit=2|only once",
      })
  void aWrongCommandLineIsOneLine(String given) {
    final String[] parts = given.split("\\|", -1);
    final String[] args = parts[0].isEmpty() ? new String[0] : parts[0].split(" ", -1);
    run(args).fails(ExitCode.MISUSE, parts[1], "--help");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "put k? v",
        "put k v?",
        "put -i ? k v",
        "drop ? --yes",
        "create ?",
        "get k --index=?",
        "scan --prefix=?",
        "get k --server=?",
        "get k --shm-directory=/?",
        "load ?.csv",
        "dump ?.csv",
        "backup ?",
        "verify ?",
        "salvage dir ?",
        "serve --data=?"
      })
  void anArgumentOfWhichCharactersAreLostIsRefused(String command) {
    run(command.replace('?', '\uFFFD').split(" ", -1)).fails(ExitCode.MISUSE, "LC_ALL=C.UTF-8");
  }

  @Test
  void namesInTheEnvironmentAndInAShellAreRefusedAsWell() {
    new Invocation("localhost:1")
        .environment("RINGFETCH_INDEX", "\uFFFD")
        .run("get", "a")
        .fails(ExitCode.MISUSE, "LC_ALL=C.UTF-8");
    new Invocation("localhost:1")
        .input("use \uFFFD\n")
        .run("shell")
        .fails(ExitCode.MISUSE, "LC_ALL=C.UTF-8");
  }

  @Test
  void aShellListsItsCommands() {
    final Outcome shell = new Invocation("localhost:1").input("help\nexit\nget a\n").run("shell");
    assertEquals(ExitCode.OK, shell.code());
    shell.says("Usage: index", "  scan ");
  }
}
