package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

class ServerAddressTest {
  private final ServerAddress address = new ServerAddress();

  @Test
  void namesServersNodesAndCoordinators() {
    assertEquals("host:50051", address.convert("host"));
    assertEquals("a:1,[::1]:50051", address.convert("a:1,[::1]"));
    assertEquals("zk://a:2181,b:2181/prod", address.convert("zk://a:2181,b:2181/prod"));
    assertThrows(TypeConversionException.class, () -> address.convert("http://a"));
    assertThrows(TypeConversionException.class, () -> address.convert("a:65536"));
  }
}
