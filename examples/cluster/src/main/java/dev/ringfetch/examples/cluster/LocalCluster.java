package dev.ringfetch.examples.cluster;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.cli.ClusterQuestions;
import dev.ringfetch.index.cli.ClusterView;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A cluster on this machine: a coordinator and nodes, each a process, and the directory with their
 * files. Other commands of the same user find it by that directory.
 *
 * <p>One command at a time changes it: others are refused. Not safe for use by several threads.
 */
public final class LocalCluster implements AutoCloseable {
  static final String COORDINATOR = "coordinator";
  private static final String NODE = "node-";
  private static final String LOCK = "lock";
  private static final String DATA = "data"; // a file with the path
  private static final String NAME = "local"; // in the coordinator

  private static final Pattern NODE_READY =
      Pattern.compile("index server listening on port (\\d+)\\R");
  private static final Pattern COORDINATOR_READY =
      Pattern.compile("zookeeper listening on (\\S+)\\R");

  private static final String OWN_CLASS_PATH = System.getProperty("java.class.path");
  private static final int ANSWER_SECONDS = 60;
  private static final Duration ASK_TIMEOUT = Duration.ofSeconds(1);
  private static final int POLL_MS = 50;

  private final Path directory;
  private final boolean bound;
  private final FileChannel lockFile;
  private final FileLock lock;
  private Path data; // of the next start; null: none
  private String classPath = OWN_CLASS_PATH; // of the nodes that are started next
  private NodeNetworks networks; // null: all processes have that of this machine

  /**
   * How nodes are started.
   *
   * @param replicas nodes that have each index
   * @param memory of a node's indexes, such as {@code 512M}
   * @param heap of its JVM, such as {@code 512m}
   * @param replication how records get to members: {@code auto}, {@code rpc} or {@code one-sided}
   * @param fabric that nodes and clients have, by its name; empty: all
   */
  public record NodeOptions(
      int replicas, String memory, String heap, String replication, String fabric) {
    /** The defaults: small nodes, as several share the machine. */
    public static final NodeOptions DEFAULT = new NodeOptions(3, "512M", "512m");

    NodeOptions(int replicas, String memory, String heap) {
      this(replicas, memory, heap, "auto", "");
    }

    /** The same, with so many nodes that have each index. */
    public NodeOptions replicas(int count) {
      return new NodeOptions(count, memory, heap, replication, fabric);
    }

    /** The same, with records that get to members by this path. */
    public NodeOptions replication(String path) {
      return new NodeOptions(replicas, memory, heap, path, fabric);
    }

    /** The same, over one fabric alone; empty: all. */
    public NodeOptions fabric(String name) {
      return new NodeOptions(replicas, memory, heap, replication, name);
    }
  }

  /**
   * Sets where nodes and coordinator of the next {@link #up} keep what outlives them, each in a
   * directory of its own; those that are there are used.
   */
  public void keepData(Path path) throws IOException {
    final Path absolute = Files.createDirectories(path).toRealPath();
    if (absolute.startsWith(directory)) {
      throw new ClusterFailure("--data is in the directory that 'cluster down' deletes: " + path);
    }
    data = absolute;
  }

  /** Sets the class path of the nodes that are started from now on; empty: that of this program. */
  void nodesWith(Optional<String> other) {
    classPath = other.orElse(OWN_CLASS_PATH);
  }

  /** Gives each node a network of its own. To be called before {@link #up}. */
  void networks(NodeNetworks each) {
    networks = each;
  }

  /** The networks of the nodes; null if they have that of this machine. */
  NodeNetworks networks() {
    return networks;
  }

  private String host(String name) {
    return networks == null ? "localhost" : networks.address(name);
  }

  /** Where data is kept; null: nowhere. */
  private Path data() throws IOException {
    final Path file = directory.resolve(DATA);
    return Files.exists(file) ? Path.of(Files.readString(file)) : null;
  }

  private LocalCluster(Path directory, boolean bound, FileChannel lockFile, FileLock lock) {
    this.directory = directory;
    this.bound = bound;
    this.lockFile = lockFile;
    this.lock = lock;
  }

  /** The directory that commands use unless another one is named. */
  static Path defaultDirectory() {
    return Path.of(
        System.getProperty("java.io.tmpdir"),
        "ringfetch-cluster-" + System.getProperty("user.name"));
  }

  /**
   * Opens the cluster of a directory, which is created if there is none, and keeps others from
   * changing it until this is closed.
   *
   * @param bound whether processes that this starts end with this process
   */
  static LocalCluster open(Path path, boolean bound) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectories(path.toAbsolutePath().getParent());
      Files.createDirectory(
          path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
        || !Files.getOwner(path, LinkOption.NOFOLLOW_LINKS)
            .getName()
            .equals(System.getProperty("user.name"))) {
      throw new ClusterFailure(path + " is no directory of this user: --directory names another");
    }
    final Path directory = path.toRealPath();
    final FileChannel file =
        FileChannel.open(
            directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    final FileLock lock = file.tryLock();
    if (lock == null) {
      file.close();
      throw new ClusterFailure("another command changes the cluster in " + directory + " now");
    }
    return new LocalCluster(directory, bound, file, lock);
  }

  /** Whether a cluster was started in a directory and not ended. */
  static boolean exists(Path directory) throws IOException {
    return Files.isDirectory(directory) && !ClusterProcess.all(directory.toRealPath()).isEmpty();
  }

  Path directory() {
    return directory;
  }

  /** All processes, by name. */
  List<ClusterProcess> processes() throws IOException {
    return ClusterProcess.all(directory);
  }

  /** The nodes that live. */
  public List<ClusterProcess> nodes() throws IOException {
    return processes().stream()
        .filter(process -> process.name().startsWith(NODE) && process.isAlive())
        .toList();
  }

  /** Addresses of the nodes that live. */
  public List<String> addresses() throws IOException {
    return nodes().stream().map(ClusterProcess::address).filter(each -> !each.isEmpty()).toList();
  }

  /** The process of a node's number, or of the coordinator's name. */
  ClusterProcess find(String operand) throws IOException {
    final String name = operand.equals(COORDINATOR) ? operand : NODE + operand;
    return processes().stream()
        .filter(process -> process.name().equals(name))
        .findFirst()
        .orElseThrow(
            () -> new ClusterFailure("there is no " + name + ": 'cluster status' lists them"));
  }

  /**
   * Starts coordinator and nodes, and waits until all nodes know each other. If that fails, all
   * that was started is ended.
   *
   * @param count of nodes
   */
  public void up(int count, NodeOptions options) throws IOException {
    if (processes().stream().anyMatch(ClusterProcess::isAlive)
        || !ClusterProcess.strays(directory).isEmpty()) {
      throw new ClusterFailure(
          "a cluster runs already in "
              + directory
              + ": 'cluster status' shows it, 'cluster down'"
              + " ends it");
    }
    deleteFiles(file -> true);
    if (data != null) {
      Files.writeString(directory.resolve(DATA), data.toString());
    }
    boolean complete = false;
    try {
      startCoordinator(0);
      final List<ClusterProcess> started = new ArrayList<>();
      for (int i = 1; i <= count; i++) {
        started.add(launch(NODE + i, 0, options));
      }
      for (final ClusterProcess node : started) {
        node.awaitReady(NODE_READY, host(node.name()) + ":");
      }
      awaitAnswers(
          "nodes do not find each other",
          view -> view.coordinated() == count && view.answering() == count);
      complete = true;
    } finally {
      if (!complete) {
        down();
      }
    }
  }

  /** Starts the coordinator at a port; 0: any. It finds what an earlier one here has left. */
  ClusterProcess startCoordinator(int port) throws IOException {
    final Path kept = data();
    final Path files =
        Files.createDirectories((kept == null ? directory : kept).resolve("zookeeper"));
    final ClusterProcess process =
        ClusterProcess.start(
            directory,
            COORDINATOR,
            bound,
            List.of(),
            List.of(
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+IgnoreUnrecognizedVMOptions", // a later JVM may not have the next
                "-XX:+NeverActAsServerClassMachine"), // the serial collector, unless one is named
            OWN_CLASS_PATH,
            List.of(
                ClusterChild.COORDINATOR,
                files.toString(),
                networks == null ? "127.0.0.1" : networks.address(),
                Integer.toString(port)));
    process.awaitReady(COORDINATOR_READY, "");
    return process;
  }

  /** Starts one more node, and waits until it listens: with the smallest number that is free. */
  ClusterProcess add(NodeOptions options) throws IOException {
    final List<String> taken = nodes().stream().map(ClusterProcess::name).toList();
    int number = 1;
    while (taken.contains(NODE + number)) {
      number++;
    }
    return start(NODE + number, 0, options);
  }

  /**
   * Starts the node of a name at a port, and waits until it listens; 0: any port. The log of one
   * that does not start is left, until another one of its name starts.
   */
  public ClusterProcess start(String name, int port, NodeOptions options) throws IOException {
    final ClusterProcess node = launch(name, port, options);
    boolean ready = false;
    try {
      node.awaitReady(NODE_READY, host(name) + ":");
      ready = true;
    } catch (ClusterFailure e) {
      throw new ClusterFailure(e.getMessage() + "; its log: " + node.log(), e);
    } finally {
      if (!ready) {
        node.kill();
        node.forgetProcess();
      }
    }
    return node;
  }

  private ClusterProcess launch(String name, int port, NodeOptions options) throws IOException {
    final List<String> arguments =
        new ArrayList<>(
            List.of(
                ClusterChild.NODE,
                "--port",
                Integer.toString(port),
                "--cluster",
                "zk://" + find(COORDINATOR).address() + "/" + NAME,
                "--bind",
                host(name),
                "--advertise",
                host(name),
                "--replicas",
                Integer.toString(options.replicas),
                "--memory",
                options.memory,
                "--replication",
                options.replication));
    if (!options.fabric.isEmpty()) {
      arguments.addAll(List.of("--fabric", options.fabric));
    }
    final Path kept = data();
    if (kept != null) {
      arguments.addAll(
          List.of("--data", kept.resolve(name).toString(), "--durability", "disk", "--takeover"));
    }
    return ClusterProcess.start(
        directory,
        name,
        bound,
        networks == null ? List.of() : networks.entering(name),
        nodeFlags(options.heap),
        classPath,
        arguments);
  }

  private static List<String> nodeFlags(String heap) {
    final List<String> flags = new ArrayList<>(List.of("-Xmx" + heap, "-Xss512k"));
    flags.add("-XX:-UsePerfData"); // which would wake the JVM 20 times a second
    if (Runtime.version().feature() < 20) { // these, 8 times instead of twice
      flags.add("-XX:G1ConcRefinementServiceIntervalMillis=1000");
      flags.add("-XX:+UnlockDiagnosticVMOptions");
      flags.add("-XX:AsyncDeflationInterval=1000");
    }
    return flags;
  }

  /** Ends a node in order, and forgets it; its log stays. */
  void remove(String operand) throws IOException {
    final ClusterProcess node = find(operand);
    node.requestEnd();
    node.awaitEnd();
    tellUnsaved(node);
    node.forgetProcess();
  }

  /**
   * Waits until the nodes' answers, put together, are as wanted.
   *
   * @param complaint for the failure, if that takes too long
   */
  public ClusterView awaitAnswers(String complaint, Predicate<ClusterView> wanted)
      throws IOException {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWER_SECONDS);
    ClusterView last = null;
    try (ClusterQuestions questions = new ClusterQuestions(addresses(), ASK_TIMEOUT)) {
      while (true) {
        try {
          last = questions.ask();
          if (wanted.test(last)) {
            return last;
          }
        } catch (StatusRuntimeException e) {
          // No node answers yet.
        }
        if (System.nanoTime() - endNs > 0) {
          throw new ClusterFailure(
              complaint
                  + " within "
                  + ANSWER_SECONDS
                  + " s: "
                  + (last == null ? "no node answers" : text(last))
                  + (bound ? "" : "; logs in " + directory)); // which goes with this process
        }
        Thread.sleep(POLL_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterFailure("interrupted", e);
    }
  }

  /** What a view shows, in a line. */
  private static String text(ClusterView view) {
    final StringBuilder text = new StringBuilder();
    for (final ClusterView.NodeView node : view.nodes()) {
      text.append(text.isEmpty() ? "" : ", ").append(node.address());
      if (!node.answers()) {
        text.append(" does not answer");
      } else {
        text.append(node.coordinated() ? " lives" : " does not reach the coordinator");
      }
    }
    for (final ClusterView.IndexView index : view.indexes()) {
      text.append("; index '").append(index.index()).append("' has ").append(index.members());
      text.append(" of ").append(index.replicas()).append(" members, and ");
      if (index.served()) {
        text.append(index.leader()).append(" leads");
      } else {
        text.append(index.lost() ? "is lost" : "no leader");
      }
    }
    return text.toString();
  }

  /** Copies what the processes have said so far to another folder. */
  void copyLogs(Path folder) throws IOException {
    try (DirectoryStream<Path> logs = Files.newDirectoryStream(directory, "*.log")) {
      for (final Path log : logs) {
        Files.copy(log, folder.resolve(log.getFileName()));
      }
    }
  }

  /**
   * Ends all processes, the nodes first, and removes their files. Their logs stay, until the next
   * {@link #up} or {@link #delete}. What cannot be ended in order is killed.
   */
  void down() throws IOException {
    final List<ClusterProcess> all = processes();
    final List<ClusterProcess> nodes =
        all.stream().filter(process -> !process.name().equals(COORDINATOR)).toList();
    for (final ClusterProcess node : nodes) {
      node.requestEnd();
    }
    nodes.forEach(ClusterProcess::awaitEnd);
    for (final ClusterProcess node : nodes) {
      tellUnsaved(node);
    }
    for (final ClusterProcess process : all) {
      process.requestEnd();
      process.awaitEnd();
    }
    for (final ProcessHandle stray : ClusterProcess.strays(directory)) {
      ClusterProcess.kill(stray, "a process of the cluster");
    }
    deleteFiles(file -> !file.toString().endsWith(ClusterProcess.LOG));
    sweep();
  }

  /** Says which indexes a node that has ended has not left in its data directory. */
  private static void tellUnsaved(ClusterProcess node) throws IOException {
    if (Files.exists(node.log())) {
      for (final String line : Files.readAllLines(node.log(), ISO_8859_1)) { // any byte is legal
        if (line.contains(IndexServer.UNSAVED)) {
          System.err.println(node.name() + ": " + line);
        }
      }
    }
  }

  /** Removes what killed processes left in shared memory. */
  private static void sweep() {
    try (Fabric opened = FabricProviders.open("shm", new FabricContext())) {
      opened.sweep();
    } catch (IOException e) {
      System.err.println("cannot look for files in shared memory: " + e.getMessage());
    }
  }

  private void deleteFiles(Predicate<Path> which) throws IOException {
    boolean again = true;
    while (again) { // others delete as well: a process that ends, a command that is interrupted
      try {
        deleteAll(which);
        again = false;
      } catch (UncheckedIOException e) {
        if (!(e.getCause() instanceof NoSuchFileException)) {
          throw e.getCause();
        }
      }
    }
  }

  private void deleteAll(Predicate<Path> which) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (final Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        if (!file.equals(directory)
            && !file.equals(directory.resolve(LOCK))
            && (!file.getParent().equals(directory) || which.test(file))) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  /** Removes the directory with the logs, after {@link #down}. */
  void delete() throws IOException {
    deleteFiles(file -> true);
    Files.deleteIfExists(directory.resolve(LOCK));
    Files.deleteIfExists(directory);
  }

  /** Lets others change the cluster. Its processes go on. */
  @Override
  public void close() throws IOException {
    lock.close();
    lockFile.close();
  }
}
