package dev.ringfetch.index.service;

import com.google.protobuf.UnsafeByteOperations;
import dev.ringfetch.index.coordinator.CoordinatorFile;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import dev.ringfetch.index.journal.JournalCopy;
import dev.ringfetch.index.v1.ListFilesResponse;
import dev.ringfetch.index.v1.ReadFileRequest;
import dev.ringfetch.index.v1.ReadFileResponse;
import io.grpc.Status;
import io.grpc.StatusException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;

/**
 * The files of a data directory in use that a {@link Backup} copies, as the service IndexAdmin
 * shows them. The others are never opened: to close its lock would give the directory up.
 *
 * <p>Methods wait for the disk. Safe for use by many threads.
 *
 * @param disk is only read
 * @param process random number of this process
 */
record DirectoryFiles(Disk disk, long process) {
  /** The most bytes that one call reads. */
  static final int LENGTH_LIMIT = 1 << 20;

  private static final Status ABSENT = Status.NOT_FOUND.withDescription("no such file");

  private static boolean isCopied(String name) {
    return name.equals(DataDirectory.IDENTITY)
        || name.equals(CoordinatorFile.NAME)
        || JournalCopy.reads(name);
  }

  /** Lists the files. */
  ListFilesResponse list() throws StatusException {
    try {
      return ListFilesResponse.newBuilder()
          .addAllNames(disk.list().stream().filter(DirectoryFiles::isCopied).toList())
          .setProcess(process)
          .build();
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /** Reads a part of a file. */
  ReadFileResponse read(ReadFileRequest request) throws StatusException {
    if (request.getProcess() != process) {
      throw Status.ABORTED
          .withDescription("the server has been started again, or is another one")
          .asException();
    }
    if (!isCopied(request.getName())) {
      throw ABSENT.asException();
    }
    if (request.getPosition() < 0
        || request.getLength() < 0 // unsigned
        || request.getLength() > LENGTH_LIMIT) {
      throw Status.INVALID_ARGUMENT
          .withDescription(
              "position="
                  + Long.toUnsignedString(request.getPosition())
                  + " length="
                  + Integer.toUnsignedString(request.getLength())
                  + " limit="
                  + LENGTH_LIMIT)
          .asException();
    }
    try (DiskFile file = disk.open(request.getName())) {
      final long length = file.length();
      final long left = Math.max(0, length - request.getPosition());
      final ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(left, request.getLength()));
      file.read(request.getPosition(), bytes);
      return ReadFileResponse.newBuilder()
          .setContent(UnsafeByteOperations.unsafeWrap(bytes.flip()))
          .setFileLength(length)
          .build();
    } catch (NoSuchFileException e) {
      throw ABSENT.asException();
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private StatusException failed(IOException e) {
    return Status.UNAVAILABLE
        .withDescription("the disk fails: data=" + disk + ": " + e.getMessage())
        .withCause(e)
        .asException();
  }
}
