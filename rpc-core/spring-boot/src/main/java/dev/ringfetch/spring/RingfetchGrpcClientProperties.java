package dev.ringfetch.spring;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.PropertyMapper;

/**
 * The properties {@code spring.grpc.client.channel.NAME.ringfetch}, beside Boot's own of that
 * channel. As with those, the channel {@code default} stands for channels without properties.
 */
@ConfigurationProperties("spring.grpc.client")
public final class RingfetchGrpcClientProperties {
  private final Map<String, Channel> channel = new HashMap<>();

  /** Returns the channels by their names. */
  public Map<String, Channel> getChannel() {
    return channel;
  }

  /** Returns the rings of a channel. */
  Rings of(String name) {
    final Channel own = channel.getOrDefault(name, channel.get("default"));
    return own == null ? new Rings() : own.getRingfetch();
  }

  /** The part of a channel's properties that Ringfetch reads. */
  public static final class Channel {
    private final Rings ringfetch = new Rings();

    /** Returns the rings of this channel. */
    public Rings getRingfetch() {
      return ringfetch;
    }
  }

  /** The rings of a channel. */
  public static class Rings {
    private boolean enabled = true;
    private @Nullable List<String> fabrics;
    private @Nullable List<String> plaintextFabrics;
    private @Nullable Path shmDirectory;
    private @Nullable Boolean acrossProxies;

    /** Tells a builder those settings that are made. */
    final void tell(
        Consumer<String[]> toFabrics,
        Consumer<String[]> toPlaintextFabrics,
        Consumer<Path> toShmDirectory,
        Consumer<Boolean> toAcrossProxies) {
      final PropertyMapper map = PropertyMapper.get();
      map.from(this::getFabrics).as(Rings::array).to(toFabrics);
      map.from(this::getPlaintextFabrics).as(Rings::array).to(toPlaintextFabrics);
      map.from(this::getShmDirectory).to(toShmDirectory);
      map.from(this::getAcrossProxies).to(toAcrossProxies);
    }

    private static String[] array(List<String> names) {
      return names.toArray(String[]::new);
    }

    /** Returns whether calls use rings. */
    public boolean isEnabled() {
      return enabled;
    }

    /** Sets whether calls use rings; default true. */
    public void setEnabled(boolean enabled) {
      this.enabled = enabled;
    }

    /** Returns the fabrics that may be used, the best first. */
    public @Nullable List<String> getFabrics() {
      return fabrics;
    }

    /** Sets the fabrics that may be used, the best first. */
    public void setFabrics(@Nullable List<String> fabrics) {
      this.fabrics = fabrics;
    }

    /** Returns the fabrics that may carry calls of encrypted connections. */
    public @Nullable List<String> getPlaintextFabrics() {
      return plaintextFabrics;
    }

    /** Sets the fabrics that may carry calls of encrypted connections. */
    public void setPlaintextFabrics(@Nullable List<String> plaintextFabrics) {
      this.plaintextFabrics = plaintextFabrics;
    }

    /** Returns the directory of the shared-memory fabric. */
    public @Nullable Path getShmDirectory() {
      return shmDirectory;
    }

    /** Sets the directory of the shared-memory fabric. */
    public void setShmDirectory(@Nullable Path shmDirectory) {
      this.shmDirectory = shmDirectory;
    }

    /** Returns whether there may be rings although a proxy stands between. */
    public @Nullable Boolean getAcrossProxies() {
      return acrossProxies;
    }

    /** Sets whether there may be rings although a proxy stands between. */
    public void setAcrossProxies(@Nullable Boolean acrossProxies) {
      this.acrossProxies = acrossProxies;
    }
  }
}
