package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Access;
import dev.ringfetch.index.client.KeyedIndex;
import dev.ringfetch.index.client.OrderedIndex;
import dev.ringfetch.index.client.SpatialIndex;

/** The choice between reads by calls and reads of the index's memory. */
enum DirectAccess {
  CALLS(Access.RPC),
  MEMORY(Access.DIRECT);

  private final Access access;

  DirectAccess(Access access) {
    this.access = access;
  }

  static DirectAccess of(boolean direct) {
    return direct ? MEMORY : CALLS;
  }

  /** The view of an index with this route of reads. */
  KeyedIndex<ByteString, ByteString> view(Connection connection, String index, boolean ordered) {
    return ordered ? view(connection.ordered(index)) : connection.hash(index).access(access);
  }

  /** The same view with this route of reads. */
  OrderedIndex<ByteString, ByteString> view(OrderedIndex<ByteString, ByteString> index) {
    return index.access(access);
  }

  /** The view of a spatial index with this route of reads. */
  SpatialIndex<ByteString, ByteString> view(SpatialIndex<ByteString, ByteString> index) {
    return index.access(access);
  }

  /** Prints a note if reads that should have been direct went by calls. */
  static void noteCalls(Connection connection, Stdio stdio) {
    if (connection.callReads() > 0) {
      stdio.note(
          "note: read by calls, not directly: the server grants no direct reads here, or could"
              + " not at once, or this kind of index has none of this sort");
    }
  }
}
