package dev.ringfetch.fabric.shm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainAdmission;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.Rights;
import dev.ringfetch.fabric.WorkRequests;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The domain of shm: files in the directory of its process, a {@link DomainRecord}, one for each
 * segment and one for each admission. A peer unlinks only its admission's.
 *
 * <p>The files keep their names as long as the domain, since peers attach segments at any time,
 * also those of a process that was killed (see {@link DeadDomains}).
 */
final class ShmDomain implements Domain {
  private final ShmFabric fabric;
  private final ProcessDirectory directory;
  private final DomainAddress address;
  private final DomainContext context;
  private final SessionFile record;
  private final GatePage gate;
  private final boolean ownsGate;

  private final ReentrantLock lock = new ReentrantLock();

  // Used by add, remove, admit and close, with the lock held.
  private final Set<OwnSegment> segments = new HashSet<>();
  private final Set<OwnAdmission> admissions = new HashSet<>();

  @GuardedBy("lock")
  private long memory;

  @GuardedBy("lock")
  private int grown;

  @GuardedBy("lock")
  private boolean closed;

  private ShmDomain(
      ShmFabric fabric,
      ProcessDirectory directory,
      DomainAddress address,
      DomainContext context,
      Pages pages) {
    this.fabric = fabric;
    this.directory = directory;
    this.address = address;
    this.context = context;
    this.record = pages.record;
    this.gate = pages.gate;
    this.ownsGate = context.gate() == null;
  }

  private record Pages(SessionFile record, GatePage gate) {}

  static ShmDomain open(ShmFabric fabric, DomainContext context) throws IOException {
    final String gatePath = gatePath(context);
    final ProcessDirectory directory = fabric.directory();
    final DomainAddress address =
        new DomainAddress(
            directory.name(),
            directory.nextDomain(),
            DomainAddress.WHOLE,
            DomainRecord.LENGTH,
            Nonce.random());
    final SessionFile record =
        SessionFile.create(address.record(directory.path()), DomainRecord.LENGTH, address.nonce());
    boolean opened = false;
    try {
      final GatePage gate =
          context.gate() == null ? GatePage.open(address.gate(directory.path())) : context.gate();
      new DomainRecord(context.rights(), context.epoch(), gatePath).put(record.region());
      opened = true;
      return new ShmDomain(fabric, directory, address, context, new Pages(record, gate));
    } finally {
      if (!opened) {
        record.unlink();
        record.close();
        Cleanup.delete(address.gate(directory.path()));
      }
    }
  }

  private static String gatePath(DomainContext context) {
    if (context.gate() == null) {
      return "";
    }
    final Path path = context.gate().path();
    if (path == null) {
      throw new IllegalArgumentException("not in a file: gate=" + context.gate());
    }
    return path.toString();
  }

  @Override
  public Rights rights() {
    return context.rights();
  }

  @Override
  public byte[] descriptor() {
    return address.encode();
  }

  @Override
  public GatePage gate() {
    return gate;
  }

  @Override
  public DomainSegment grow(int length) throws IOException {
    WorkRequests.checkLength(length);
    final DomainAddress next = reserve(length);
    SessionFile file = null;
    try {
      file =
          SessionFile.create(
              next.file(directory.path()), next.length(), next.nonce(), context.sparse());
      final OwnSegment segment = new OwnSegment(next, file);
      if (add(segments, segment)) {
        return segment;
      }
      discard(file);
      throw closedException();
    } finally {
      if (file == null) {
        giveBack(next);
      }
    }
  }

  private DomainAddress reserve(int length) throws IOException {
    lock.lock();
    try {
      if (closed) {
        throw closedException();
      }
      if (directory.isGone()) {
        throw new IOException(
            "the domain's files were deleted (by RemoveIPC of systemd-logind, or a cleaner of old"
                + " files?): directory="
                + directory.path());
      }
      context.checkGrowth(grown, memory, length);
      memory += length;
      return address.segment(grown++, length);
    } finally {
      lock.unlock();
    }
  }

  private void giveBack(long length) {
    lock.lock();
    try {
      memory -= length;
    } finally {
      lock.unlock();
    }
  }

  /** As {@link #giveBack}, of a segment that could not be created: its number may come again. */
  private void giveBack(DomainAddress failed) {
    lock.lock();
    try {
      memory -= failed.length();
      if (failed.segment() == grown - 1) {
        grown--;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Adds to a set of open resources; false when the domain is closed. */
  private <T> boolean add(Set<T> resources, T resource) {
    lock.lock();
    try {
      return !closed && resources.add(resource);
    } finally {
      lock.unlock();
    }
  }

  private <T> boolean remove(Set<T> resources, T resource) {
    lock.lock();
    try {
      return resources.remove(resource);
    } finally {
      lock.unlock();
    }
  }

  private static void discard(SessionFile file) {
    file.unlink();
    file.truncate();
    file.close();
  }

  private static IOException closedException() {
    return new IOException("the domain is closed");
  }

  @Override
  public DomainAdmission admit(byte[] peerHint, byte[] token) throws IOException {
    ShmFabric.checkToken(token);
    fabric.checkHint(peerHint);
    lock.lock();
    try {
      if (closed) {
        throw closedException();
      }
      if (admissions.size() >= context.peerLimit()) {
        throw new IOException("too many peers: peerLimit=" + context.peerLimit());
      }
      final OwnAdmission admission =
          new OwnAdmission(AdmissionFile.create(address, directory.path(), token));
      admissions.add(admission);
      return admission;
    } catch (IOException e) {
      if (e.getCause() instanceof FileAlreadyExistsException) {
        throw new IllegalArgumentException("not a new token", e);
      }
      throw e;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    final List<OwnAdmission> revoked;
    final List<OwnSegment> left;
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      revoked = List.copyOf(admissions);
      left = List.copyOf(segments);
    } finally {
      lock.unlock();
    }
    if (ownsGate) {
      gate.close();
    }
    revoked.forEach(OwnAdmission::close);
    for (final OwnSegment segment : left) {
      // Threads of either side may be reading: pages go with them.
      segment.file.unlink();
      segment.file.close();
    }
    record.unlink();
    record.close();
    if (ownsGate) {
      Cleanup.delete(gate.path());
    }
    fabric.forget(this);
  }

  @Override
  public String toString() {
    return "ShmDomain[" + address.process() + "/" + address.domain() + "]";
  }

  /** A segment at its owner. */
  private final class OwnSegment implements DomainSegment {
    private final DomainAddress segment;
    private final SessionFile file;

    OwnSegment(DomainAddress segment, SessionFile file) {
      this.segment = segment;
      this.file = file;
    }

    @Override
    public int number() {
      return segment.segment();
    }

    @Override
    public long length() {
      return segment.length();
    }

    @Override
    public MemoryRegion region() {
      return file.region();
    }

    @Override
    public byte[] descriptor() {
      return segment.encode();
    }

    @Override
    public void close() {
      if (remove(segments, this)) {
        if (context.rights() == Rights.ATOMIC) {
          file.keep(); // an atomic on a page that is gone ends the peer's JVM
        }
        discard(file);
        giveBack(segment.length());
      }
    }
  }

  /** An admission at the domain's owner. */
  private final class OwnAdmission implements DomainAdmission {
    private final SessionFile file;

    OwnAdmission(SessionFile file) {
      this.file = file;
    }

    @Override
    public void close() {
      if (remove(admissions, this)) {
        AdmissionFile.revoke(file);
      }
    }
  }
}
