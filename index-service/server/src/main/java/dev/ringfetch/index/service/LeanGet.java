package dev.ringfetch.index.service;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.rights.Rights;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.Lean;
import dev.ringfetch.rpc.LeanCall;
import dev.ringfetch.rpc.LeanHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The handler on bytes of {@code Index.Get}: answers a read of an index that no other node has
 * where the thread's reader decides it, with the bytes that protobuf would write. It declines all
 * other calls, also those with a wrong request: {@link IndexService#get} has the rules for them.
 * Thread-safe.
 */
final class LeanGet implements LeanHandler {
  private static final int INDEX =
      GetRequest.INDEX_FIELD_NUMBER << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED;
  private static final int KEY =
      GetRequest.KEY_FIELD_NUMBER << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED;

  private static final int ENTRY =
      GetResponse.ENTRY_FIELD_NUMBER << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED;
  private static final int ENTRY_KEY =
      Entry.KEY_FIELD_NUMBER << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED;
  private static final int ENTRY_VALUE =
      Entry.VALUE_FIELD_NUMBER << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED;
  private static final int ENTRY_VERSION =
      Entry.VERSION_FIELD_NUMBER << 3 | WireFormat.WIRETYPE_VARINT;
  private static final int ENTRY_DEADLINE =
      Entry.DEADLINE_MS_FIELD_NUMBER << 3 | WireFormat.WIRETYPE_VARINT;
  private static final int INCARNATION =
      GetResponse.INCARNATION_FIELD_NUMBER << 3 | WireFormat.WIRETYPE_FIXED64;

  private static final int MORE = 0x80;
  private static final int VARINT_BITS = 7;

  /** Limit of a request's length, which is beyond that of the longest correct one. */
  private static final int MAX_REQUEST_LENGTH = 2 * BlockDescriptor.MAX_KEY_LENGTH;

  /** Tags, lengths and numbers of an answer take less. */
  private static final int MAX_OVERHEAD = 64;

  /** Capacity that a thread keeps for its answers, in bytes. */
  private static final int KEPT_LENGTH = 64 * 1024;

  private final Indexes indexes;
  private final CallMetrics metrics;
  private final @Nullable Rights rights; // null: there are no users
  private final ThreadLocal<Message> messages = ThreadLocal.withInitial(Message::new);

  LeanGet(Indexes indexes) {
    this.indexes = indexes;
    metrics = indexes.callMetrics();
    rights = indexes.rights();
  }

  /**
   * Returns the Index service with this handler of {@code Get} in front of its own, and calls that
   * are measured if the indexes have metrics.
   */
  static ServerServiceDefinition boundTo(ServerServiceDefinition service, Indexes indexes) {
    final String method = IndexGrpc.getGetMethod().getBareMethodName();
    return Lean.replace(
        MeasuredCalls.of(service, indexes.callMetrics()), method, new LeanGet(indexes));
  }

  @Override
  public boolean onRequest(LeanCall call, byte[] request, int offset, int length) {
    final long beginNs = metrics == CallMetrics.NONE ? 0 : System.nanoTime();
    final Message message = answer(call, request, offset, length);
    if (message == null) {
      return false;
    }
    call.answer(message.bytes, 0, message.length);
    message.shrink();
    if (metrics != CallMetrics.NONE) {
      metrics.onEnd(IndexGrpc.getGetMethod(), Status.Code.OK, System.nanoTime() - beginNs);
    }
    return true;
  }

  /** As {@link #answer}, if the call's user is known and may read the index. */
  private @Nullable Message answer(LeanCall call, byte[] request, int offset, int length) {
    final Message message = messages.get();
    return message.parse(request, offset, length)
            && (rights == null || rights.letsRead(call, message.index))
        ? answer(message, request)
        : null;
  }

  /** The answer to a request; null if the call is declined. Valid until the thread's next one. */
  @Nullable Message answer(byte[] request, int offset, int length) {
    final Message message = messages.get();
    return message.parse(request, offset, length) ? answer(message, request) : null;
  }

  private @Nullable Message answer(Message message, byte[] request) {
    final ServedIndex index = indexes.find(message.index);
    if (index == null || index.needsBarrier()) {
      return null;
    }
    final ServedIndex.LocalReader reader = index.reader();
    final ReadResult result = reader.read(request, message.keyOffset, message.keyLength);
    if (result != ReadResult.FOUND && result != ReadResult.ABSENT) {
      return null;
    }
    message.write(request, result == ReadResult.FOUND ? reader.found() : null, index.incarnation());
    return message;
  }

  /** A request's fields and the answer to it, for one thread. */
  static final class Message {
    private String index;
    private int keyOffset;
    private int keyLength;
    private byte[] bytes = new byte[256];
    private int length;

    /** A copy of the answer. */
    byte[] toByteArray() {
      return Arrays.copyOf(bytes, length);
    }

    /** Reads a request. False unless each field is there once at the most, and in the limits. */
    private boolean parse(byte[] request, int offset, int requestLength) {
      if (requestLength > MAX_REQUEST_LENGTH) {
        return false;
      }
      index = null;
      keyLength = 0;
      final int end = offset + requestLength;
      int position = offset;
      while (position < end) {
        final int tag = request[position++];
        int fieldLength = position < end ? request[position++] : -1;
        if (fieldLength < 0 && position < end && request[position] >= 0) { // two bytes
          fieldLength = (fieldLength & (MORE - 1)) | (request[position++] << VARINT_BITS);
        }
        if (fieldLength <= 0 || fieldLength > end - position) {
          return false;
        }
        if (tag == KEY && keyLength == 0 && fieldLength <= BlockDescriptor.MAX_KEY_LENGTH) {
          keyOffset = position;
          keyLength = fieldLength;
        } else if (tag == INDEX && index == null && isAscii(request, position, fieldLength)) {
          index = new String(request, position, fieldLength, StandardCharsets.US_ASCII);
        } else {
          return false;
        }
        position += fieldLength;
      }
      if (index == null) {
        index = ServedIndex.DEFAULT_NAME;
      }
      return keyLength > 0;
    }

    private static boolean isAscii(byte[] text, int offset, int length) {
      for (int i = offset; i < offset + length; i++) {
        if (text[i] < 0) {
          return false;
        }
      }
      return true;
    }

    /**
     * Writes the answer.
     *
     * @param found the entry, or null if the key is absent.
     */
    private void write(byte[] request, @Nullable Found found, long incarnation) {
      length = 0;
      if (found != null) {
        ensure(keyLength + found.length() + MAX_OVERHEAD);
        final int entryLength =
            lengthOf(keyLength)
                + (found.length() == 0 ? 0 : lengthOf(found.length()))
                + lengthOfNumber(found.version())
                + lengthOfNumber(found.deadline());
        put(ENTRY);
        putVarint(entryLength);
        putBytes(ENTRY_KEY, request, keyOffset, keyLength);
        if (found.length() != 0) {
          putBytes(ENTRY_VALUE, found.array(), found.offset(), found.length());
        }
        putNumber(ENTRY_VERSION, found.version());
        putNumber(ENTRY_DEADLINE, found.deadline());
      }
      if (incarnation != 0) {
        put(INCARNATION);
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
          put((int) (incarnation >>> shift));
        }
      }
    }

    private static int lengthOf(int delimited) {
      return 1 + CodedOutputStream.computeUInt32SizeNoTag(delimited) + delimited;
    }

    private static int lengthOfNumber(long number) {
      return number == 0 ? 0 : 1 + CodedOutputStream.computeUInt64SizeNoTag(number);
    }

    private void ensure(int capacity) {
      if (bytes.length < capacity) {
        bytes = new byte[Math.max(capacity, 2 * bytes.length)];
      }
    }

    /** Drops the memory of a long answer. */
    private void shrink() {
      if (bytes.length > KEPT_LENGTH) {
        bytes = new byte[KEPT_LENGTH];
      }
    }

    private void put(int value) {
      bytes[length++] = (byte) value;
    }

    private void putVarint(long value) {
      long left = value;
      while ((left & -MORE) != 0) {
        put((int) left | MORE);
        left >>>= VARINT_BITS;
      }
      put((int) left);
    }

    private void putNumber(int tag, long number) {
      if (number != 0) {
        put(tag);
        putVarint(number);
      }
    }

    private void putBytes(int tag, byte[] source, int offset, int count) {
      put(tag);
      putVarint(count);
      System.arraycopy(source, offset, bytes, length, count);
      length += count;
    }
  }
}
