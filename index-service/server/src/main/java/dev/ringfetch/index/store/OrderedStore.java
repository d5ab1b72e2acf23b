package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.KeyOrder;
import dev.ringfetch.index.layout.NodeDescriptor;
import dev.ringfetch.index.layout.SizeClasses;
import dev.ringfetch.index.layout.TreeDescriptor;
import dev.ringfetch.index.v1.Entry;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The owner's access to the entries of an ordered index in index memory. A change is visible to
 * readers when the method returns, perhaps earlier; one change of an entry is one change of one
 * leaf.
 *
 * <p>The owner verifies the checksum of each leaf and each block before it trusts them. Methods
 * throw {@link StoreDamagedException} if one is wrong; the caller then refuses the index. They may
 * throw InternalError if memory was unmapped, and {@link #verify} does so at the latest.
 *
 * <p>Used by one thread at a time; the actions of one must happen before those of the next.
 */
public final class OrderedStore implements EntryStore {
  /** Suffix that makes the next possible key. */
  private static final ByteString BEHIND = ByteString.copyFrom(new byte[1]);

  private final StoreMemory memory;
  private final IndexRoot root;
  private final BlockAllocator allocator;
  private final BlockStore blocks;
  private final NodeStore nodes;
  private final Separators separators;
  private final Tree tree;
  private final FullLeaf full;
  private final Expiry expiry;
  private final AtomicLong count = new AtomicLong();
  private final Snapshots snapshots = new Snapshots();
  private int reservations;

  /** The largest version of an entry so far. */
  private long newest;

  private byte[] keyBytes = new byte[64];
  private int keyLength;
  private long head;
  private int code;

  /**
   * The object of the last searched key while the results of the search, which are in fields, are
   * valid; null after a change.
   */
  private ByteString searched;

  private boolean found;

  /** Number of the leaf's entry whose block was loaded last; -1 if there is none. */
  private int loaded;

  /** The leaf of the last searched key, its image, and the place of the key in it. */
  private TreeNode leaf;

  private final byte[] image = new byte[NodeDescriptor.COPY_LENGTH];
  private int place;

  /** Creates an empty store, still without memory. */
  OrderedStore(StoreMemory memory, IndexRoot root) {
    this.memory = memory;
    this.root = root;
    allocator = new BlockAllocator(memory);
    blocks = new BlockStore(memory, root.incarnation(), 0);
    nodes = new NodeStore(memory, root.incarnation());
    separators = new Separators(memory, allocator, root.incarnation());
    tree = new Tree(memory, root, nodes, separators);
    full = new FullLeaf(tree, nodes, separators, blocks);
    expiry =
        new Expiry(
            memory,
            root.address() + TreeDescriptor.CLOCK_OFFSET,
            new BlockStore(memory, root.incarnation(), 0),
            this::version);
  }

  /** Creates the first leaf; returns false if there is no memory. */
  boolean open() {
    if (!nodes.reserve(1)) {
      return false;
    }
    tree.open();
    return nodes.reserve(0);
  }

  /** Frees all memory. */
  void close() {
    tree.close();
    nodes.close();
    allocator.close();
  }

  @Override
  public long version(ByteString key) {
    return find(key) ? versionAtPlace() : 0;
  }

  @Override
  public Entry entry(ByteString key) {
    return find(key) ? entryAtPlace(key) : null;
  }

  @Override
  public long deadline() {
    return found ? deadlineAtPlace() : 0;
  }

  @Override
  public Expiry expiry() {
    return expiry;
  }

  private long deadlineAtPlace() {
    if (loaded != place) {
      loadEntry(place);
    }
    return blocks.deadline();
  }

  private long versionAtPlace() {
    return loaded == place ? blocks.version() : loadEntry(place);
  }

  private Entry entryAtPlace(ByteString key) {
    final long version = versionAtPlace();
    return Entry.newBuilder()
        .setKey(key)
        .setValue(blocks.value())
        .setVersion(version)
        .setDeadlineMs(blocks.deadline())
        .build();
  }

  @Override
  public void begin(Snapshot snapshot) {
    snapshot.begin(newest, expiry.clock());
    snapshots.add(snapshot);
  }

  /** Keeps the found entry for snapshots, before it changes. */
  private void keep(ByteString key) {
    snapshots.keep(entryAtPlace(key));
  }

  /** Also checks the entries on both sides of the key, which scans pass. */
  @Override
  public void check(ByteString key) {
    final boolean unused = find(key);
    tree.check(leaf);
    loadEntries(place);
    final TreeNode before = leaf.left;
    if (place == 0 && before != null) {
      tree.check(before);
      loadLeaf(before);
      loadEntries(NodeDescriptor.count(image) - 1);
    }
    searched = null;
  }

  /** Loads the image of a leaf if necessary; the owner trusts an image on the heap. */
  private void loadLeaf(TreeNode node) {
    if (leaf != node || !nodes.isCurrent(node, image)) {
      leaf = null; // as the next line may throw
      nodes.load(node, image);
      leaf = node;
    }
  }

  /** Checks the blocks of an entry and of its neighbours in the leaf. */
  private void loadEntries(int number) {
    final int entries = NodeDescriptor.count(image);
    for (int i = Math.max(0, number - 1); i <= number + 1 && i < entries; i++) {
      loadEntry(i);
    }
  }

  /** Copies the block of an entry of the leaf; returns its version. */
  private long loadEntry(int number) {
    final int entry = NodeDescriptor.entry(0, number);
    loaded = -1;
    blocks.load(NodeDescriptor.slot(image, entry), NodeDescriptor.version(image, entry));
    loaded = number;
    return blocks.version();
  }

  /** Finds a key's leaf, and its place there; returns whether the key has an entry. */
  private boolean find(ByteString key) {
    searched = null;
    found = search(key);
    searched = key;
    return found;
  }

  /** Finds a key for a write; reuses the result of {@link #find} if that was the last search. */
  @SuppressWarnings("ReferenceEquality") // equal keys may be compared in vain
  private boolean findToWrite(ByteString key) {
    return searched == key ? found : find(key);
  }

  private boolean search(ByteString key) {
    keyLength = key.size();
    if (keyBytes.length < keyLength) {
      keyBytes = new byte[Math.max(keyLength, 2 * keyBytes.length)];
    }
    key.copyTo(keyBytes, 0);
    head = KeyOrder.head(keyBytes, 0, keyLength);
    code = KeyOrder.code(keyLength);
    loadLeaf(tree.leafOf(keyBytes, keyLength, leaf));
    loaded = -1;
    int low = 0;
    int high = NodeDescriptor.count(image);
    while (low < high) {
      final int middle = (low + high) >>> 1;
      final int order = compareWithEntry(middle);
      if (order == 0) {
        place = middle;
        return true;
      }
      if (order > 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    place = low;
    return false;
  }

  private int compareWithEntry(int number) {
    final int entry = NodeDescriptor.entry(0, number);
    final int order =
        KeyOrder.compare(
            head, code, NodeDescriptor.head(image, entry), NodeDescriptor.code(image, entry));
    if (order != KeyOrder.UNKNOWN) {
      return order;
    }
    loadEntry(number);
    return blocks.compareWithKey(keyBytes, keyLength);
  }

  /**
   * Reserves memory for one put, so that the put cannot fail: a block, and nodes for splits up to
   * the highest level.
   *
   * @return 0, or {@link PartitionStore#FULL} or {@link PartitionStore#TOO_LONG}
   */
  @Override
  public int reserve(int keyLength, int valueLength) {
    return reserve(keyLength, valueLength, false);
  }

  @Override
  public int reserve(int keyLength, int valueLength, boolean hasDeadline) {
    final int sizeClass =
        memory.sizeClass(BlockDescriptor.length(keyLength, valueLength, hasDeadline));
    if (sizeClass == 0) {
      return PartitionStore.TOO_LONG;
    }
    if (!allocator.reserve(sizeClass)) {
      return PartitionStore.FULL;
    }
    if (!separators.reserve()) {
      allocator.release(sizeClass);
      return PartitionStore.FULL;
    }
    if (!nodes.reserve(nodesFor(reservations + 1))) {
      separators.release();
      allocator.release(sizeClass);
      return PartitionStore.FULL;
    }
    reservations++;
    return 0;
  }

  @Override
  public void release(int keyLength, int valueLength) {
    release(keyLength, valueLength, false);
  }

  @Override
  public void release(int keyLength, int valueLength, boolean hasDeadline) {
    allocator.release(
        SizeClasses.of((int) BlockDescriptor.length(keyLength, valueLength, hasDeadline)));
    separators.release();
    endReservation();
  }

  /**
   * Ends a reservation. If memory is short, the remaining nodes suffice: earlier puts used less
   * than their share.
   */
  private void endReservation() {
    reservations--;
    final boolean unused = nodes.reserve(nodesFor(reservations));
  }

  /**
   * Limit of the nodes that a number of puts may need. Each put splits at most one node per level.
   * A new highest node, or a split of a new one, follows only after many splits below: fewer than
   * one per put, and one more.
   */
  private int nodesFor(int puts) {
    return puts == 0 ? 0 : puts * (tree.height() + 1) + 1;
  }

  /**
   * Stores an entry, which replaces the key's former one. Consumes a reservation with these
   * lengths.
   *
   * @param version from 1 to {@link PartitionStore#MAX_VERSION}, unique in this store
   */
  @Override
  public void put(ByteString key, ByteString value, long version) {
    put(key, value, version, 0);
  }

  @Override
  public void put(ByteString key, ByteString value, long version, long deadline) {
    if (version < 1 || version > PartitionStore.MAX_VERSION) {
      throw new IllegalArgumentException("not a version: version=" + version);
    }
    final boolean isThere = findToWrite(key);
    newest = Math.max(newest, version); // a recovery restores in the order of keys
    if (isThere && snapshots.areOpen()) {
      keep(key);
    }
    if (isThere) {
      endDeadline();
    }
    change();
    final int sizeClass =
        SizeClasses.of((int) BlockDescriptor.length(keyLength, value.size(), deadline != 0));
    final long address = allocator.take(sizeClass);
    blocks.write(address, keyBytes, keyLength, value, version, deadline);
    final long slot = GroupDescriptor.slot(code, sizeClass, address);
    final int entry = NodeDescriptor.entry(0, place);
    final int entries = NodeDescriptor.count(image);
    if (isThere) {
      final long oldSlot = NodeDescriptor.slot(image, entry);
      NodeDescriptor.putReference(image, entry, head, slot, (int) version);
      nodes.storeLeaf(leaf, image, entries);
      blocks.publish(address);
      allocator.give(GroupDescriptor.address(oldSlot));
    } else {
      if (entries < NodeDescriptor.LEAF_ENTRIES) {
        FullLeaf.copy(image, place, image, place + 1, entries - place);
        NodeDescriptor.putReference(image, entry, head, slot, (int) version);
        nodes.storeLeaf(leaf, image, entries + 1);
        blocks.publish(address);
      } else {
        full.add(leaf, image, place, Arrays.copyOf(keyBytes, keyLength), slot, (int) version);
      }
      count.lazySet(count.getPlain() + 1);
    }
    separators.release();
    endReservation();
    if (deadline != 0) {
      expiry.added(deadline, version, slot);
    }
    expiry.sweep();
  }

  /** Notes the end of the found entry. */
  private void endDeadline() {
    if (expiry.isUsed() && deadlineAtPlace() != 0) {
      expiry.ended();
    }
  }

  /** Forgets the result of the last search, before a change. */
  private void change() {
    searched = null;
    loaded = -1;
  }

  @Override
  public boolean delete(ByteString key) {
    if (!findToWrite(key)) {
      return false;
    }
    if (snapshots.areOpen()) {
      keep(key);
    }
    endDeadline();
    final int entry = NodeDescriptor.entry(0, place);
    final int entries = NodeDescriptor.count(image);
    final long slot = NodeDescriptor.slot(image, entry);
    change();
    FullLeaf.copy(image, place + 1, image, place, entries - place - 1);
    nodes.storeLeaf(leaf, image, entries - 1);
    allocator.give(GroupDescriptor.address(slot));
    count.lazySet(count.getPlain() - 1);
    if (entries == 1) {
      final TreeNode empty = leaf;
      leaf = null; // its neighbours change, too
      tree.remove(empty);
    }
    expiry.sweep();
    return true;
  }

  /** Does nothing: each put grows the tree as it needs. */
  @Override
  public boolean grow() {
    return false;
  }

  @Override
  public void step(EntryWalk walk) {
    int leaves = 0;
    while (stepLeaf(walk) && ++leaves < EntryWalk.STEP_LEAVES) {
      // on to the next one
    }
    searched = null;
  }

  /** Walks to the end of a leaf; returns whether the step continues. */
  private boolean stepLeaf(EntryWalk walk) {
    final boolean unused = find(walk.key);
    for (int i = place; i < NodeDescriptor.count(image); i++) {
      final Entry entry = entry(i);
      walk.key = entry.getKey().concat(BEHIND);
      if (!walk.add(entry)) {
        return false;
      }
    }
    if (leaf.right == null) {
      walk.end();
      return false;
    }
    walk.key = ByteString.copyFrom(leaf.right.low.key);
    return true;
  }

  private Entry entry(int number) {
    place = number;
    loadEntry(place);
    return entryAtPlace(ByteString.copyFrom(blocks.key()));
  }

  @Override
  public Entry last() {
    loadLeaf(tree.last());
    int number = NodeDescriptor.count(image);
    searched = null;
    while (number == 0 && leaf.left != null) {
      loadLeaf(leaf.left);
      number = NodeDescriptor.count(image);
    }
    return number == 0 ? null : entry(number - 1);
  }

  @Override
  public long bytes() {
    return allocator.used();
  }

  /** Number of entries. Safe for use by many threads. */
  @Override
  public long count() {
    return count.get();
  }

  /** Number of levels of nodes. */
  int height() {
    return tree.height();
  }

  @Override
  public void verify() {
    memory.verify();
  }

  @Override
  public boolean isRefused() {
    return root.isRefused();
  }

  @Override
  public void refuse(Throwable damage) {
    root.refuse(damage);
  }
}
