package dev.ringfetch.rdma.natives;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Native methods that class files declare; the classes are read, not initialised. */
final class NativeMethods {
  private NativeMethods() {}

  /** All of the jar or directory that a class comes from. */
  static List<Method> beside(Class<?> type) {
    try {
      URI place = type.getProtectionDomain().getCodeSource().getLocation().toURI();
      if (Files.isDirectory(Path.of(place))) {
        return below(Path.of(place));
      }
      try (FileSystem jar = FileSystems.newFileSystem(Path.of(place))) {
        return below(jar.getPath("/"));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private static List<Method> below(Path root) throws IOException {
    List<Method> methods = new ArrayList<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String name = root.relativize(file).toString();
        if (name.endsWith(".class") && !name.endsWith("-info.class")) {
          methods.addAll(of(name.substring(0, name.length() - 6).replace('/', '.')));
        }
      }
    }
    return methods;
  }

  private static List<Method> of(String type) {
    try {
      Class<?> loaded = Class.forName(type, false, NativeMethods.class.getClassLoader());
      return Arrays.stream(loaded.getDeclaredMethods())
          .filter(method -> Modifier.isNative(method.getModifiers()))
          .toList();
    } catch (ClassNotFoundException e) {
      throw new AssertionError(type, e);
    }
  }

  /** Name of the C function behind a method. None of ours is overloaded. */
  static String symbol(Method method) {
    return "Java_"
        + mangled(method.getDeclaringClass().getName())
        + "_"
        + mangled(method.getName());
  }

  private static String mangled(String name) {
    return name.replace("_", "_1").replace('.', '_');
  }
}
