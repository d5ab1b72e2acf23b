package dev.ringfetch.index.linearizability;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Histories as files, by which client processes hand them over. */
final class HistoryFile {
  private HistoryFile() {}

  static void write(Path file, List<Operation> history) throws IOException {
    try (DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
      out.writeInt(history.size());
      for (final Operation operation : history) {
        out.writeInt(operation.key());
        out.writeUTF(operation.call().kind().name());
        out.writeLong(operation.call().value());
        out.writeLong(operation.call().expected());
        out.writeBoolean(operation.answer().yes());
        out.writeLong(operation.answer().version());
        out.writeLong(operation.answer().value());
        out.writeLong(operation.answer().incarnation());
        out.writeBoolean(operation.ring());
        out.writeLong(operation.invokedNs());
        out.writeLong(operation.answeredNs());
      }
    }
  }

  static List<Operation> read(Path file) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      final int size = in.readInt();
      final List<Operation> history = new ArrayList<>(size);
      for (int i = 0; i < size; i++) {
        history.add(
            new Operation(
                in.readInt(),
                new Call(Call.Kind.valueOf(in.readUTF()), in.readLong(), in.readLong()),
                new Answer(in.readBoolean(), in.readLong(), in.readLong(), in.readLong()),
                in.readBoolean(),
                in.readLong(),
                in.readLong()));
      }
      return history;
    }
  }
}
