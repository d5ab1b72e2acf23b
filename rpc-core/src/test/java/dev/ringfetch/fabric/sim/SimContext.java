package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;

/** Options of a simulated network. Setters return this. */
public final class SimContext {
  private WriteOrder writeOrder = WriteOrder.ASCENDING;
  private ReadAtomicity readAtomicity = ReadAtomicity.NONE;
  private StoreOrder storeOrder = StoreOrder.TOTAL;
  private boolean loadStore = true;
  private boolean readAfterWrite = true;
  private boolean readAfterRead = true;
  private NicModel nic = NicModel.FREE;
  private long maxDelayNs = 5_000;
  private int sendQueueDepth = 1024;
  private int maxDatagram;
  private int datagramFaults;
  private boolean engine;
  private Runnable preemption;

  /** In which order the stores of one side become visible to the other. */
  public enum StoreOrder {
    /** In the order of the program, late: x86. */
    TOTAL,
    /** In any order that release stores and fences allow. */
    RELEASE
  }

  /** Order in which the bytes of one write become visible. */
  public WriteOrder writeOrder() {
    return writeOrder;
  }

  /** Sets {@link #writeOrder()}. */
  public SimContext writeOrder(WriteOrder order) {
    this.writeOrder = order;
    return this;
  }

  /** What a read of memory that is being written returns. */
  public ReadAtomicity readAtomicity() {
    return readAtomicity;
  }

  /** Sets {@link #readAtomicity()}. */
  public SimContext readAtomicity(ReadAtomicity atomicity) {
    this.readAtomicity = atomicity;
    return this;
  }

  /** Order of a CPU's own stores. */
  public StoreOrder storeOrder() {
    return storeOrder;
  }

  /** Sets {@link #storeOrder()}. */
  public SimContext storeOrder(StoreOrder order) {
    this.storeOrder = order;
    return this;
  }

  /**
   * True: both sides load and store one memory. False: each has its own, and a write places a range
   * of one in the other.
   */
  public boolean loadStore() {
    return loadStore;
  }

  /** Sets {@link #loadStore()}. */
  public SimContext loadStore(boolean shared) {
    this.loadStore = shared;
    return this;
  }

  /** Whether a READ of a domain returns what WRITEs posted before it have placed. */
  public boolean readAfterWrite() {
    return readAfterWrite;
  }

  /** Sets {@link #readAfterWrite()}. */
  public SimContext readAfterWrite(boolean granted) {
    this.readAfterWrite = granted;
    return this;
  }

  /** Whether a READ of a domain loads after READs posted before it. */
  public boolean readAfterRead() {
    return readAfterRead;
  }

  /** Sets {@link #readAfterRead()}. */
  public SimContext readAfterRead(boolean granted) {
    this.readAfterRead = granted;
    return this;
  }

  /** What work requests cost. */
  public NicModel nic() {
    return nic;
  }

  /** Sets {@link #nic()}. */
  public SimContext nic(NicModel model) {
    this.nic = model;
    return this;
  }

  /** Longest time that a ring, an end or a step of a work request is under way, in nanoseconds. */
  public long maxDelayNs() {
    return maxDelayNs;
  }

  /** Sets {@link #maxDelayNs()}. */
  public SimContext maxDelayNs(long nanos) {
    this.maxDelayNs = nanos;
    return this;
  }

  /** How many work requests a queue pair has room for. */
  public int sendQueueDepth() {
    return sendQueueDepth;
  }

  /** Sets {@link #sendQueueDepth()}. */
  public SimContext sendQueueDepth(int workRequests) {
    this.sendQueueDepth = workRequests;
    return this;
  }

  /** Longest datagram in bytes; 0, as it is unless set, where there are none. */
  public int maxDatagram() {
    return maxDatagram;
  }

  /** Sets {@link #maxDatagram()}. */
  public SimContext maxDatagram(int bytes) {
    this.maxDatagram = bytes;
    return this;
  }

  /** One datagram in so many is lost, or worse; 0 for none. */
  public int datagramFaults() {
    return datagramFaults;
  }

  /** Sets {@link #datagramFaults()}. */
  public SimContext datagramFaults(int interval) {
    this.datagramFaults = interval;
    return this;
  }

  /** True: things happen when a {@link SimEngine} has them happen. */
  public boolean engine() {
    return engine;
  }

  /** Sets {@link #engine()}. */
  public SimContext engine(boolean runs) {
    this.engine = runs;
    return this;
  }

  /** Run before every ordered access to memory, where others may come between; or null. */
  public Runnable preemption() {
    return preemption;
  }

  /** Sets {@link #preemption()}. With one, nobody waits for anything: time is the timeline's. */
  public SimContext preemption(Runnable others) {
    this.preemption = others;
    return this;
  }
}
