package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Parser;
import dev.ringfetch.index.outcome.OutcomeTable;
import org.jspecify.annotations.Nullable;

/** The form and the limit of an answer that an outcome keeps for a repetition: a message. */
final class KeptAnswer {
  private KeptAnswer() {}

  /** The answer as the outcome keeps it: empty if it is too long, or its record would be. */
  static ByteString of(ByteString answer, int entryLength) {
    return answer.size() <= OutcomeTable.ANSWER_LIMIT && entryLength <= Transaction.MAX_BYTES
        ? answer
        : ByteString.EMPTY;
  }

  /** The message of an answer; null if there is none. */
  static <M> @Nullable M parse(Parser<M> parser, ByteString answer) {
    try {
      return answer.isEmpty() ? null : parser.parseFrom(answer);
    } catch (InvalidProtocolBufferException e) { // the record's checksum was right by chance
      return null;
    }
  }
}
