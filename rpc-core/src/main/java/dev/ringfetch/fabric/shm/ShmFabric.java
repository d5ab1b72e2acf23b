package dev.ringfetch.fabric.shm;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.MappedRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.WorkRequests;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The fabric between processes of one user: memory in mapped files below one directory.
 *
 * <p>The provider sweeps what dead processes have left there. The first offer creates a directory
 * for this fabric, which {@link #close} removes; where a process ends without it, a later sweep
 * does.
 */
final class ShmFabric implements Fabric {
  /**
   * {@code LINE} rests on words, not on lines: a read loads the first word, then the others from
   * the lowest up, 8 bytes at a time and each with acquire. It sees everything that was stored
   * before any word that it loaded earlier, but two words of one line may be of different moments.
   * The CPU's own line is never torn into less than words, and nothing beyond that is assumed.
   */
  static final FabricCapabilities CAPABILITIES =
      new FabricCapabilities(
              FabricCapabilities.WriteOrder.ASCENDING,
              FabricCapabilities.ReadAtomicity.LINE,
              true,
              Integer.MAX_VALUE)
          .ordered(true, true);

  static final int TOKEN_LENGTH = 16;

  private static final Logger LOGGER = System.getLogger(ShmFabric.class.getName());
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  private final Ownership ownership;
  private final Path parent;
  private final Path root;
  private final byte[] hint;
  private final Set<ShmDoorbell> doorbells = ConcurrentHashMap.newKeySet();

  /** Domains of this process and of peers. */
  private final Set<AutoCloseable> domains = ConcurrentHashMap.newKeySet();

  /** Guards the creation of {@link #directory} and the close. */
  private final ReentrantLock lock = new ReentrantLock();

  private ProcessDirectory directory;
  private volatile boolean closed;

  ShmFabric(Path parent) throws IOException {
    if (!Files.isDirectory(parent)) {
      throw new IOException("not a directory: directory=" + parent);
    }
    this.parent = parent;
    this.ownership = Ownership.ofThisProcess();
    this.root = parent.resolve("ringfetch-" + ownership.uid());
    ProcessDirectory.checkPathLength(root);
    this.hint = hint(parent, ownership);
    if (Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
      ownership.checkDirectory(root);
    }
  }

  /** Equal for two processes of one user that run on one kernel and see the same directory. */
  private static byte[] hint(Path parent, Ownership ownership) throws IOException {
    final String bootId = Files.readString(BOOT_ID).trim();
    final Map<String, Object> id = Files.readAttributes(parent, "unix:dev,ino");
    final String text = bootId + " " + id.get("dev") + ":" + id.get("ino") + " " + ownership.uid();
    return text.getBytes(UTF_8);
  }

  Ownership ownership() {
    return ownership;
  }

  @Override
  public String name() {
    return ShmProvider.NAME;
  }

  @Override
  public FabricCapabilities capabilities() {
    return CAPABILITIES;
  }

  @Override
  public byte[] hint() {
    return hint.clone();
  }

  @Override
  public Doorbell openDoorbell() throws IOException {
    final ShmDoorbell doorbell = new ShmDoorbell(this);
    doorbells.add(doorbell);
    if (closed) {
      doorbell.close();
      throw closedException();
    }
    return doorbell;
  }

  @Override
  public Offer offer(
      Doorbell doorbell, byte[] peerHint, int length, byte[] token, OfferListener listener)
      throws IOException {
    final ShmDoorbell bell = own(doorbell);
    checkToken(token);
    WorkRequests.checkLength(length);
    checkHint(peerHint);
    final Arrivals arrivals = bell.arrivals();
    final SessionAddress address = address(length, arrivals.bell(), Nonce.random());
    final ShmOffer offer = new ShmOffer(arrivals, address, token, create(address), listener);
    arrivals.add(offer);
    return offer;
  }

  @Override
  public QueuePair connect(
      Doorbell doorbell, byte[] descriptor, byte[] token, long timeoutNs, boolean datagrams)
      throws IOException {
    final ShmDoorbell bell = own(doorbell);
    checkToken(token);
    final SessionAddress address = SessionAddress.decode(descriptor);
    if (address.isRegistered()) {
      throw new IOException("not a session: " + address.name());
    }
    return new ShmConnectAttempt(root, ownership, address, timeoutNs).connect(bell, token);
  }

  private ShmDoorbell own(Doorbell doorbell) {
    if (doorbell instanceof ShmDoorbell bell && bell.fabric() == this) {
      return bell;
    }
    throw new IllegalArgumentException("not of this fabric: doorbell=" + doorbell);
  }

  @Override
  public Domain openDomain(DomainContext context) throws IOException {
    return add(ShmDomain.open(this, context));
  }

  @Override
  public RemoteDomain connectDomain(byte[] descriptor, byte[] token, long timeoutNs)
      throws IOException {
    checkToken(token);
    return add(ShmRemoteDomain.connect(this, DomainAddress.decode(descriptor), token));
  }

  private <T extends AutoCloseable> T add(T domain) throws IOException {
    domains.add(domain);
    if (closed) {
      Cleanup.close(domain);
      throw closedException();
    }
    return domain;
  }

  /** A domain has closed. */
  void forget(AutoCloseable domain) {
    domains.remove(domain);
  }

  @Override
  public void sweep() {
    try {
      if (Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
        ownership.checkDirectory(root);
        Sweep.run(root);
      }
    } catch (IOException e) {
      LOGGER.log(Level.WARNING, "cannot sweep " + root, e);
    }
  }

  /** Refuses a peer that cannot reach the files of this fabric. */
  void checkHint(byte[] peerHint) throws IOException {
    if (!Arrays.equals(hint, peerHint)) {
      throw new IOException("peer is on another host, of another user or sees another " + parent);
    }
  }

  /** Refuses a peer's directory that is not this user's alone. */
  void checkPeer(Path peer) throws IOException {
    ownership.checkDirectory(root);
    ownership.checkDirectory(peer);
  }

  /** The directory of a peer. */
  Path directory(DomainAddress address) {
    return root.resolve(address.process());
  }

  static void checkToken(byte[] token) {
    if (token.length != TOKEN_LENGTH) {
      throw new IllegalArgumentException("not 16 bytes: token.length=" + token.length);
    }
  }

  /** The address of new memory of this process. */
  SessionAddress address(int length, int bell, Nonce nonce) throws IOException {
    WorkRequests.checkLength(length);
    final ProcessDirectory directory = directory();
    return new SessionAddress(directory.name(), directory.nextSession(), bell, length, nonce);
  }

  /** Creates the memory of an address of this process. */
  SessionFile create(SessionAddress address) throws IOException {
    return SessionFile.create(address.path(directory().path()), address.length(), address.nonce());
  }

  /** Maps memory that a peer has registered. */
  MappedRegion attach(SessionAddress address) throws IOException {
    final Path peer = root.resolve(address.process());
    checkPeer(peer);
    try (FileChannel channel = SessionFile.open(address.path(peer), address, ownership)) {
      return SessionFile.map(channel, address.length(), MapMode.READ_ONLY);
    }
  }

  /**
   * The directory of this fabric, created at the first call, and again where it was deleted.
   * Sessions that are open need it no longer.
   */
  ProcessDirectory directory() throws IOException {
    lock.lock();
    try {
      if (closed) {
        throw closedException();
      }
      if (directory != null && directory.isGone()) {
        LOGGER.log(
            Level.WARNING,
            "{0} was deleted while it was in use (by RemoveIPC of systemd-logind, or a cleaner of"
                + " old files?): another one takes its place",
            directory.path());
        directory.close();
        directory = null;
      }
      if (directory == null) {
        directory = ProcessDirectory.create(root, ownership);
      }
      return directory;
    } finally {
      lock.unlock();
    }
  }

  void remove(ShmDoorbell doorbell) {
    doorbells.remove(doorbell);
  }

  private static IOException closedException() {
    return new IOException("the fabric is closed");
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
    for (final ShmDoorbell doorbell : doorbells) {
      doorbell.close();
    }
    domains.forEach(Cleanup::close);
    // No lock: no thread creates a directory any more, and closing it twice has no effect.
    if (directory != null) {
      directory.close();
    }
  }

  @Override
  public String toString() {
    return "ShmFabric[" + root + "]";
  }
}
