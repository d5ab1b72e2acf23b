package dev.ringfetch.examples.process;

import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.FabricName;
import dev.ringfetch.rpc.ReplyMode;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServerBuilder;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/** The options of a program's rings; the program passes them on to its processes. */
public final class Rings {
  @Option(
      names = "--fabric",
      paramLabel = "NAME",
      converter = FabricName.class,
      description = "What rings are made of: shm, verbs. Default: the best that there is.")
  private String fabric;

  @Option(
      names = "--shm-directory",
      paramLabel = "PATH",
      description = "Directory of shared memory. Default: /dev/shm.")
  private Path shmDirectory;

  @Option(
      names = "--reply-mode",
      paramLabel = "MODE",
      description = "Who moves answers over verbs: ${COMPLETION-CANDIDATES}. Default: ADAPTIVE.")
  private ReplyMode replyMode;

  @Option(
      names = "--spin-time",
      paramLabel = "MICROS",
      converter = AtLeast.Zero.class,
      description = "How long both sides poll before they sleep. Default: 50.")
  private Integer spinMicros;

  /** Sets the fabric by its name. */
  public static Rings over(String name) {
    final Rings rings = new Rings();
    rings.fabric = name;
    return rings;
  }

  /** Sets how answers move. */
  public Rings replyMode(ReplyMode mode) {
    replyMode = mode;
    return this;
  }

  /** Sets how long both sides poll. */
  public Rings spinMicros(int micros) {
    spinMicros = micros;
    return this;
  }

  /** Name of the requested fabric, or null. */
  public String fabric() {
    return fabric;
  }

  /** True if this fabric was requested. */
  public boolean isOver(String name) {
    return name.equals(fabric);
  }

  /** How answers move. */
  public ReplyMode replyMode() {
    return replyMode == null ? ReplyMode.ADAPTIVE : replyMode;
  }

  /** True if a polling time was given. */
  public boolean hasSpinTime() {
    return spinMicros != null;
  }

  /** The same options, for a client's process. */
  public List<String> arguments() {
    final List<String> arguments = new ArrayList<>(serverArguments());
    if (replyMode != null) {
      arguments.addAll(List.of("--reply-mode", replyMode.name()));
    }
    return arguments;
  }

  /** Those of the options that a server has, too. */
  public List<String> serverArguments() {
    final List<String> arguments = new ArrayList<>();
    if (fabric != null) {
      arguments.addAll(List.of("--fabric", fabric));
    }
    if (shmDirectory != null) {
      arguments.addAll(List.of("--shm-directory", shmDirectory.toString()));
    }
    if (spinMicros != null) {
      arguments.addAll(List.of("--spin-time", spinMicros.toString()));
    }
    return arguments;
  }

  /** Applies them to a channel. */
  public void apply(RingChannelBuilder builder) {
    builder.replyMode(replyMode());
    if (fabric != null) {
      builder.fabrics(fabric);
    }
    if (shmDirectory != null) {
      builder.shmDirectory(shmDirectory);
    }
    if (spinMicros != null) {
      builder.spinTime(spinTime());
    }
  }

  /** Applies them to a server. */
  public void apply(RingServerBuilder builder) {
    if (fabric != null) {
      builder.fabrics(fabric);
    }
    if (shmDirectory != null) {
      builder.shmDirectory(shmDirectory);
    }
    if (spinMicros != null) {
      builder.spinTime(spinTime());
    }
  }

  /** Applies them to a session without a channel or server. */
  public void apply(SessionContext context) {
    context.replyPolicy(ReplyPolicy.valueOf(replyMode().name()));
    if (spinMicros != null) {
      context.spinNs(spinTime().toNanos());
    }
  }

  /** Applies them to a fabric without a channel or server. */
  public void apply(FabricContext context) {
    if (shmDirectory != null) {
      context.directory(shmDirectory);
    }
  }

  /** Passes the directory of shared memory on, if one was given. */
  public void apply(Consumer<Path> directory) {
    if (shmDirectory != null) {
      directory.accept(shmDirectory);
    }
  }

  private Duration spinTime() {
    return Duration.of(spinMicros, ChronoUnit.MICROS);
  }
}
