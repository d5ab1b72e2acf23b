package dev.ringfetch.rdma.natives;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.ibm.disni.verbs.RdmaCm;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Java and C agree on the natives: none is missing, none is left over, all take the same types. */
final class NativeInterfaceTest {
  private static final String DISNI = "com.ibm.disni.verbs.impl.NativeDispatcher";
  private static final String AFFINITY = "com.ibm.disni.util.NativeAffinity";

  /** What is exported for the Java VM and not for a method. */
  private static final Set<String> FOR_THE_VM = Set.of("JNI_OnLoad_disni");

  /** A native's definition: result, a macro with its arguments or a whole name, parameters. */
  private static final Pattern DEFINITION =
      Pattern.compile(
          "^(?:DISNI\\((\\w+), (\\w+)\\)|RINGFETCH\\((\\w+), (\\w+), (\\w+)\\)"
              + "|JNIEXPORT (\\w+) JNICALL (Java_\\w+))\\(JAVA([^)]*)\\)",
          Pattern.MULTILINE);

  private static List<Method> declared() {
    return Stream.concat(
            NativeMethods.beside(RdmaCm.class).stream(),
            NativeMethods.beside(NativeLibrary.class).stream())
        .toList();
  }

  @Test
  void disniDeclaresWhatWeKnow() {
    Map<String, Long> natives =
        NativeMethods.beside(RdmaCm.class).stream()
            .collect(
                Collectors.groupingBy(
                    method -> method.getDeclaringClass().getName(), Collectors.counting()));
    assertEquals(Map.of(DISNI, 48L, AFFINITY, 2L), natives);
  }

  @Test
  void exportsWhatIsDeclaredAndNothingElse() throws IOException {
    RdmaAssumptions.assumeBuilt();
    Set<String> expected = new TreeSet<>(FOR_THE_VM);
    declared().forEach(method -> expected.add(NativeMethods.symbol(method)));
    try (InputStream library = NativeLibrary.class.getResourceAsStream(NativeLibrary.resource())) {
      assertEquals(expected, ElfSymbols.exported(library.readAllBytes()));
    }
  }

  /** Symbols carry no types: a wrong one would read a stray register. */
  @Test
  void parametersAndResultsAgree() throws IOException {
    Map<String, String> expected = new TreeMap<>();
    for (Method method : declared()) {
      expected.put(
          NativeMethods.symbol(method),
          jniType(method.getReturnType())
              + Arrays.stream(method.getParameterTypes())
                  .map(NativeInterfaceTest::jniType)
                  .toList());
    }
    Map<String, String> defined = new TreeMap<>();
    try (Stream<Path> sources = Files.list(Path.of("src/main/c"))) {
      sources
          .filter(file -> file.toString().endsWith(".c"))
          .forEach(file -> collect(file, defined));
    }
    assertEquals(expected, defined);
  }

  private static void collect(Path file, Map<String, String> defined) {
    try {
      DEFINITION.matcher(Files.readString(file)).results().forEach(found -> add(found, defined));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void add(MatchResult found, Map<String, String> defined) {
    String name;
    String result;
    if (found.group(1) != null) {
      result = found.group(1);
      name = "Java_" + DISNI.replace('.', '_') + "__1" + found.group(2);
    } else if (found.group(3) != null) {
      result = found.group(3);
      name = "Java_dev_ringfetch_rdma_natives_" + found.group(4) + "_" + found.group(5);
    } else {
      result = found.group(6);
      name = found.group(7);
    }
    List<String> parameters =
        Arrays.stream(found.group(8).split(","))
            .map(String::strip)
            .filter(parameter -> !parameter.isEmpty())
            .map(parameter -> parameter.substring(0, parameter.indexOf(' ')))
            .toList();
    defined.put(name, result + parameters);
  }

  private static String jniType(Class<?> type) {
    if (type.isPrimitive()) {
      return type == void.class ? "void" : "j" + type.getName();
    }
    if (type.isArray()) {
      return "jobjectArray";
    }
    return type == String.class ? "jstring" : "jobject";
  }
}
