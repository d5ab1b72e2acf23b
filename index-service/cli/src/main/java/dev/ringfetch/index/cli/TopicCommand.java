package dev.ringfetch.index.cli;

import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.ByteCount;
import dev.ringfetch.index.DurabilityLevel;
import dev.ringfetch.index.client.TopicCommits;
import dev.ringfetch.index.client.TopicCommits.Commit;
import dev.ringfetch.index.client.TopicDescription;
import dev.ringfetch.index.client.TopicLog;
import dev.ringfetch.index.client.TopicOptions;
import dev.ringfetch.index.client.TopicPartition;
import dev.ringfetch.index.client.Topics;
import dev.ringfetch.index.v1.Durability;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command of topics: its commands create, list, describe and delete them, and show the lag. */
@Command(
    name = "topic",
    hidden = true, // the list has no line left; the synopsis names it
    description = "Create, list, describe and delete topics; show how far readers are behind.")
final class TopicCommand implements Runnable {
  private final Session session;

  @SuppressWarnings("UnusedVariable") // picocli looks at it
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Print this, and exit.")
  private boolean help;

  @Spec private CommandSpec spec;

  TopicCommand(Session session) {
    this.session = session;
  }

  /** Its commands, by their names. */
  Map<String, Object> commands() {
    final Map<String, Object> commands = new LinkedHashMap<>();
    commands.put("create", new Create(session));
    commands.put("list", new ListTopics(session));
    commands.put("describe", new Describe(session));
    commands.put("delete", new Delete(session));
    commands.put("lag", new Lag(session));
    return commands;
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "a command is missing: create, list, describe, delete, lag");
  }

  /** The base of the commands of topics: checks and prints what several of them need. */
  private abstract static class OfTopics extends ClientCommand {
    OfTopics(Session session) {
      super(session);
    }

    static <T> T checked(Supplier<T> parsed) {
      try {
        return parsed.get();
      } catch (IllegalArgumentException e) {
        throw CommandFailure.misuse(e.getMessage());
      }
    }

    static void checkTopic(String name) {
      final var unused = checked(() -> new TopicPartition(name, 0));
    }

    static CommandFailure noTopic(String name) {
      return new CommandFailure(
          ExitCode.NOT_FOUND,
          "no topic is called '" + name + "': '" + IndexProgram.NAME + " topic list' shows them");
    }

    static String retention(TopicDescription topic) {
      return topic.retention().isZero() ? "-" : TimeSpan.text(topic.retention());
    }

    static String bytes(TopicDescription topic) {
      return topic.retentionBytes() == 0 ? "-" : Printable.bytes(topic.retentionBytes());
    }

    static String durability(TopicDescription topic) {
      return topic.durability().name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    void print(List<TopicDescription> topics, Output out) {
      final TextTable table =
          new TextTable("lrrlrr")
              .row("TOPIC", "PARTITIONS", "RECORDS", "DURABILITY", "RETENTION", "BYTES");
      for (final TopicDescription topic : topics) {
        if (isJson()) {
          out.object()
              .text("topic", topic.name())
              .number("partitions", topic.partitions())
              .number("records", topic.records())
              .text("durability", durability(topic))
              .number("retention_ms", topic.retention().toMillis())
              .number("retention_bytes", topic.retentionBytes())
              .end();
        }
        table.row(
            topic.name(),
            Printable.number(topic.partitions()),
            Printable.number(topic.records()),
            durability(topic),
            retention(topic),
            bytes(topic));
      }
      if (!isJson()) {
        table.print(out, width());
      }
    }
  }

  @Command(
      name = "create",
      description = "Create a topic. One that is there with the same options is no error.")
  private static final class Create extends OfTopics {
    @Parameters(paramLabel = "TOPIC", description = "Name of the topic.")
    private String name;

    @Option(
        names = "--partitions",
        paramLabel = "N",
        defaultValue = "1",
        converter = AtLeast.One.class,
        description = "Number of its partitions. Default: 1.")
    private int partitions;

    @Option(
        names = "--durability",
        paramLabel = "LEVEL",
        converter = DurabilityLevel.class,
        description =
            "What appends survive: memory, interval, disk, leader-disk. Default: the server's.")
    private Durability durability = Durability.DURABILITY_UNSPECIFIED;

    @Option(
        names = "--replicas",
        paramLabel = "N",
        converter = AtLeast.One.class,
        description = "Nodes of a cluster that have it. Default: what the server says.")
    private int replicas;

    @Option(
        names = "--retention",
        paramLabel = "TIME",
        converter = TimeSpan.class,
        description = "How long records are kept, such as 7d. Default: for ever.")
    private Duration retention = Duration.ZERO;

    @Option(
        names = "--retention-bytes",
        paramLabel = "BYTES",
        converter = ByteCount.class,
        description = "Memory of the records of each partition, such as 1g. Default: any.")
    private long retentionBytes;

    Create(Session session) {
      super(session);
    }

    @Override
    void check() {
      checkTopic(name);
      final var unused = options();
    }

    private TopicOptions options() {
      return checked(
          () -> new TopicOptions(partitions, durability, replicas, retention, retentionBytes));
    }

    @Override
    boolean isChanging() {
      return true;
    }

    @Override
    int run(Connection connection, Output out) {
      final boolean created = connection.topics().create(name, options());
      if (isJson()) {
        out.object().text("topic", name).flag("created", created).end();
      } else {
        out.line((created ? "created topic '" : "there already: topic '") + name + "'");
      }
      return ExitCode.OK;
    }
  }

  @Command(name = "list", description = "List the topics of the server.")
  private static final class ListTopics extends OfTopics {
    ListTopics(Session session) {
      super(session);
    }

    @Override
    int run(Connection connection, Output out) {
      final Topics topics = connection.topics();
      final List<TopicDescription> found = new ArrayList<>();
      topics.list().forEach(name -> topics.describe(name).ifPresent(found::add));
      if (found.isEmpty() && !isJson()) {
        stdio().note("no topic: '" + IndexProgram.NAME + " topic create TOPIC' makes one");
      } else {
        print(found, out);
      }
      return ExitCode.OK;
    }
  }

  @Command(name = "describe", description = "Describe a topic and its partitions.")
  private static final class Describe extends OfTopics {
    @Parameters(paramLabel = "TOPIC", description = "Name of the topic.")
    private String name;

    Describe(Session session) {
      super(session);
    }

    @Override
    void check() {
      checkTopic(name);
    }

    @Override
    int run(Connection connection, Output out) {
      final Topics topics = connection.topics();
      final TopicDescription topic = topics.describe(name).orElseThrow(() -> noTopic(name));
      print(List.of(topic), out);
      final TextTable table = new TextTable("rrrr").row("PARTITION", "RECORDS", "FIRST", "END");
      for (int i = 0; i < topic.partitions(); i++) {
        final TopicLog log = topics.log(name, i);
        final long records = log.count(0);
        final long first = log.first();
        final long end = log.end();
        if (isJson()) {
          out.object()
              .number("partition", i)
              .number("records", records)
              .number("first", first)
              .number("end", end)
              .end();
        }
        table.row("" + i, Printable.number(records), "" + first, "" + end);
      }
      if (!isJson()) {
        out.line("");
        table.print(out, width());
      }
      return ExitCode.OK;
    }
  }

  @Command(name = "delete", description = "Delete a topic with all its records.")
  private static final class Delete extends OfTopics {
    @Parameters(paramLabel = "TOPIC", description = "Name of the topic.")
    private String name;

    @Option(
        names = {"-y", "--yes"},
        description = "Do not ask at the terminal.")
    private boolean yes;

    Delete(Session session) {
      super(session);
    }

    @Override
    void check() {
      checkTopic(name);
    }

    @Override
    boolean isChanging() {
      return true;
    }

    @Override
    int run(Connection connection, Output out) {
      if (!yes) {
        confirm("Delete topic '" + name + "' with all its records?");
      }
      if (!connection.topics().delete(name)) {
        throw noTopic(name);
      }
      if (isJson()) {
        out.object().text("topic", name).flag("deleted", true).end();
      } else {
        out.line("deleted topic '" + name + "'");
      }
      return ExitCode.OK;
    }
  }

  @Command(
      name = "lag",
      description = "Show how many records a group of readers has still to read.")
  private static final class Lag extends OfTopics {
    @Option(names = "--group", required = true, paramLabel = "GROUP", description = "The group.")
    private String group;

    Lag(Session session) {
      super(session);
    }

    @Override
    void check() {
      final var unused = checked(() -> TopicCommits.tag(group));
    }

    @Override
    int run(Connection connection, Output out) {
      final Topics topics = connection.topics();
      final TextTable table =
          new TextTable("lrrrr").row("TOPIC", "PARTITION", "COMMITTED", "END", "LAG");
      boolean isKnown = false;
      for (final String name : topics.list()) {
        final int partitions = topics.describe(name).map(TopicDescription::partitions).orElse(0);
        final List<TopicPartition> all =
            IntStream.range(0, partitions).mapToObj(i -> new TopicPartition(name, i)).toList();
        final Map<TopicPartition, Commit> commits = topics.commits().committed(group, all);
        for (final TopicPartition partition : all) {
          final Commit commit = commits.get(partition);
          if (commit != null) {
            isKnown = true;
            row(topics.log(partition), partition, commit, table, out);
          }
        }
      }
      if (!isKnown) {
        throw new CommandFailure(
            ExitCode.NOT_FOUND,
            "group '" + group + "' has committed nothing of a topic that is there");
      }
      if (!isJson()) {
        table.print(out, width());
      }
      return ExitCode.OK;
    }

    private void row(
        TopicLog log, TopicPartition partition, Commit commit, TextTable table, Output out) {
      final long end = log.end();
      final long lag = log.count(commit.offset());
      if (isJson()) {
        out.object()
            .text("topic", partition.topic())
            .number("partition", partition.partition())
            .number("committed", commit.offset())
            .number("end", end)
            .number("lag", lag)
            .end();
      }
      table.row(
          partition.topic(),
          "" + partition.partition(),
          "" + commit.offset(),
          "" + end,
          Printable.number(lag));
    }
  }
}
