package dev.ringfetch.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.CounterFileDescriptor;
import dev.ringfetch.counters.RecordDescriptor;
import dev.ringfetch.counters.SnapshotDescriptor;
import dev.ringfetch.ring.RulerDiagram.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The diagrams in the Javadoc of the layouts say what the constants say. */
class DescriptorDiagramTest {
  private static final String OFFSET = "_OFFSET";

  @ParameterizedTest
  @ValueSource(
      classes = {
        FrameDescriptor.class,
        ControlDescriptor.class,
        BulkDescriptor.class,
        CounterFileDescriptor.class,
        SnapshotDescriptor.class,
        RecordDescriptor.class
      })
  void offsetsAreTheDiagrams(Class<?> type) throws Exception {
    RulerDiagram diagram = RulerDiagram.parse(type);
    Set<String> drawn = new TreeSet<>();
    for (Field field : diagram.fields()) {
      if (!field.isAfterOpen()) {
        drawn.add(field.constant() + OFFSET);
        assertEquals(
            field.offset(), type.getField(field.constant() + OFFSET).getInt(null), field.name());
      }
    }
    assertEquals(offsets(type), drawn);
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        FrameDescriptor.class,
        ControlDescriptor.class,
        BulkDescriptor.class,
        CounterFileDescriptor.class,
        SnapshotDescriptor.class,
        RecordDescriptor.class
      })
  void widthsInTheDocumentationAreTheDiagrams(Class<?> type) throws Exception {
    RulerDiagram diagram = RulerDiagram.parse(type);
    Pattern documented =
        Pattern.compile(
            "/\\*\\*[^/]*?, (\\d+) bits[^/]*\\*/\\s+public static final int (\\w+)_OFFSET");
    Matcher matcher = documented.matcher(diagram.source());
    int found = 0;
    while (matcher.find()) {
      Field field = field(diagram, matcher.group(2));
      assertEquals(Integer.parseInt(matcher.group(1)), field.bytes() * 8, field.name());
      found++;
    }
    long closed =
        diagram.fields().stream().filter(f -> f.bytes() != Field.OPEN && !f.isAfterOpen()).count();
    assertEquals(closed, found, "fields whose documentation names their width");
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        FrameDescriptor.class,
        ControlDescriptor.class,
        BulkDescriptor.class,
        SnapshotDescriptor.class,
        CounterFileDescriptor.class
      })
  void fieldsAreAlignedToTheirSize(Class<?> type) throws Exception {
    for (Field field : RulerDiagram.parse(type).fields()) {
      if (field.bytes() != Field.OPEN) {
        assertEquals(0, field.offset() % field.bytes(), field.name());
      }
    }
  }

  @Test
  void frameIsHeaderPayloadAndCommitWord() throws Exception {
    List<Field> fields = RulerDiagram.parse(FrameDescriptor.class).fields();
    assertEquals(
        List.of(
            "Length",
            "Tag",
            "Stream Id",
            "Flags",
            "Code",
            "Ack",
            "Crc32c",
            "Payload",
            "Commit Word"),
        names(fields));
    Field payload = fields.get(7);
    Field commit = fields.get(8);
    assertEquals(Field.OPEN, payload.bytes());
    assertTrue(commit.isAfterOpen());
    assertEquals(0, commit.offset());
    assertEquals(FrameDescriptor.COMMIT_LENGTH, commit.bytes());
    assertEquals(FrameDescriptor.OVERHEAD, payload.offset() + commit.bytes());
    assertEquals(0, payload.offset() % Long.BYTES);
    assertTrue(
        String.join("\n", RulerDiagram.lines(FrameDescriptor.class))
            .contains("padding to the last " + FrameDescriptor.COMMIT_LENGTH + " bytes of a slot"));
  }

  @Test
  void controlLineIsOneLine() throws Exception {
    List<Field> fields = RulerDiagram.parse(ControlDescriptor.class).fields();
    assertEquals(
        List.of(
            "Consumed",
            "Released",
            "Heartbeat",
            "Load",
            "Sleep",
            "Blocked",
            "Fetching",
            "Turn Stamp",
            "Turn Begin",
            "Turn Length",
            "Turn Period",
            "Turn Check"),
        names(fields));
    Field last = fields.get(11);
    assertEquals(ControlDescriptor.CONTROL_LENGTH, last.offset() + last.bytes());
    assertEquals(FrameDescriptor.SLOT_LENGTH, ControlDescriptor.CONTROL_LENGTH);
  }

  @Test
  void bulkDescriptorIsAsLongAsItsFields() throws Exception {
    List<Field> fields = RulerDiagram.parse(BulkDescriptor.class).fields();
    assertEquals(List.of("Region", "Length", "Offset"), names(fields));
    Field last = fields.get(2);
    assertEquals(BulkDescriptor.DESCRIPTOR_LENGTH, last.offset() + last.bytes());
  }

  /** Its diagram has no ruler: what counts is the order of the boxes, and their padding. */
  @Test
  void arenaIsInTheOrderOfItsBoxes() throws Exception {
    List<String> boxes = new ArrayList<>();
    for (String line : RulerDiagram.lines(ArenaDescriptor.class)) {
      if (line.strip().startsWith("|")) {
        boxes.add(line.replace('|', ' ').replace("...", "").strip());
      }
    }
    String padding = ControlDescriptor.CONTROL_LENGTH + " bytes of padding";
    assertEquals(
        List.of(
            "Client Control (client writes)",
            padding,
            "Server Control (server writes)",
            padding,
            "Request Ring (client writes)",
            "Response Ring (server writes)"),
        boxes);
    int line = ControlDescriptor.CONTROL_LENGTH;
    assertEquals(0, ArenaDescriptor.CLIENT_CONTROL_OFFSET);
    assertEquals(2 * line, ArenaDescriptor.SERVER_CONTROL_OFFSET);
    assertEquals(4 * line, ArenaDescriptor.REQUEST_RING_OFFSET);
    assertEquals(4 * line + 128, ArenaDescriptor.responseRingOffset(128));
    assertEquals(4 * line + 128 + 4096, ArenaDescriptor.length(128, 4096));
    assertTrue(
        ArenaDescriptor.length(ArenaDescriptor.MAX_RING_LENGTH, ArenaDescriptor.MAX_RING_LENGTH)
            > 0);
  }

  private static List<String> names(List<Field> fields) {
    return fields.stream().map(Field::name).toList();
  }

  private static Field field(RulerDiagram diagram, String constant) {
    return diagram.fields().stream()
        .filter(field -> field.constant().equals(constant))
        .findFirst()
        .orElseThrow(() -> new AssertionError("not in the diagram: " + constant));
  }

  private static Set<String> offsets(Class<?> type) {
    Set<String> names = new TreeSet<>();
    Arrays.stream(type.getFields())
        .map(java.lang.reflect.Field::getName)
        .filter(name -> name.endsWith(OFFSET))
        .forEach(names::add);
    return names;
  }
}
