package dev.ringfetch.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** The bill of materials says what is released, in the parent's words. */
class ArtifactsTest {
  private static final Path TOP = Path.of(System.getProperty("basedir", "")).resolve("..");
  private static final Path BILL = TOP.resolve("rpc-core/bom/pom.xml");

  private static final String PLUGINS = "//plugin[version]";

  /** The folders that may have modules whose artifacts are released. */
  private static final List<String> FOLDERS =
      List.of("proto", "rpc-core", "rpc-rdma", "index-service");

  @Test
  void theBillHasEveryArtifact() throws Exception {
    final Set<String> released = new TreeSet<>();
    for (final String folder : FOLDERS) {
      try (Stream<Path> files = Files.find(TOP.resolve(folder), 2, (path, is) -> isPom(path))) {
        for (final Path file : files.toList()) {
          final Document pom = read(file);
          if (values(pom, "/project/packaging").isEmpty()
              && values(pom, "//maven.deploy.skip").isEmpty()) {
            released.addAll(values(pom, "/project/artifactId"));
          }
        }
      }
    }
    assertFalse(released.isEmpty());
    assertEquals(
        released,
        new TreeSet<>(values(read(BILL), "//dependencyManagement//dependency/artifactId")));
  }

  @Test
  void theBillAgreesWithTheParent() throws Exception {
    final Document bill = read(BILL);
    final Document parent = read(TOP.resolve("pom.xml"));
    assertEquals(values(parent, "/project/version"), values(bill, "/project/version"));
    final Map<String, String> pinned = plugins(parent);
    assertFalse(plugins(bill).isEmpty());
    plugins(bill).forEach((plugin, version) -> assertEquals(pinned.get(plugin), version, plugin));
  }

  private static boolean isPom(Path path) {
    return path.endsWith("pom.xml");
  }

  private static Map<String, String> plugins(Document pom) throws Exception {
    final List<String> names = values(pom, PLUGINS + "/artifactId");
    final List<String> versions = values(pom, PLUGINS + "/version");
    final Map<String, String> plugins = new TreeMap<>();
    for (int i = 0; i < names.size(); i++) {
      plugins.put(names.get(i), versions.get(i));
    }
    return plugins;
  }

  private static Document read(Path pom) throws Exception {
    return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
  }

  private static List<String> values(Document pom, String path) throws Exception {
    final NodeList nodes =
        (NodeList)
            XPathFactory.newInstance().newXPath().evaluate(path, pom, XPathConstants.NODESET);
    return IntStream.range(0, nodes.getLength())
        .mapToObj(i -> nodes.item(i).getTextContent())
        .toList();
  }
}
