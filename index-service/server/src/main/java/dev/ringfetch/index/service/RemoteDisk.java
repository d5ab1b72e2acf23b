package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import dev.ringfetch.index.v1.IndexAdminGrpc.IndexAdminBlockingStub;
import dev.ringfetch.index.v1.ListFilesRequest;
import dev.ringfetch.index.v1.ListFilesResponse;
import dev.ringfetch.index.v1.ReadFileRequest;
import dev.ringfetch.index.v1.ReadFileResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The data directory of a running server, read by calls of its service IndexAdmin. Its files cannot
 * be changed.
 */
final class RemoteDisk implements Disk {
  /** A disk that takes longer for a part of a file is a failed one. */
  private static final long CALL_SECONDS = 60;

  private final IndexAdminBlockingStub admin;
  private final String server;
  private long process; // 0: nothing was listed yet

  /**
   * Reads the directory of a server.
   *
   * @param server its name in messages
   */
  RemoteDisk(IndexAdminBlockingStub admin, String server) {
    this.admin = admin;
    this.server = server;
  }

  private <R> R call(Function<IndexAdminBlockingStub, R> call, String name) throws IOException {
    try {
      return call.apply(admin.withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS));
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() == Status.Code.NOT_FOUND) {
        throw new NoSuchFileException(describe(name));
      }
      throw new IOException(
          e.getStatus().getCode() + ": " + e.getStatus().getDescription() + ": server=" + server,
          e);
    }
  }

  @Override
  public List<String> list() throws IOException {
    final ListFilesResponse listed =
        call(stub -> stub.listFiles(ListFilesRequest.getDefaultInstance()), "");
    process = listed.getProcess();
    return listed.getNamesList();
  }

  @Override
  public DiskFile open(String name) throws IOException {
    if (process == 0) {
      list();
    }
    final ReadFileRequest request =
        ReadFileRequest.newBuilder().setName(name).setProcess(process).build();
    return new RemoteFile(request, read(request).getFileLength());
  }

  private ReadFileResponse read(ReadFileRequest request) throws IOException {
    return call(stub -> stub.readFile(request), request.getName());
  }

  @Override
  public DiskFile create(String name) throws IOException {
    throw readOnly(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    throw readOnly(from);
  }

  @Override
  public void delete(String name) throws IOException {
    throw readOnly(name);
  }

  private IOException readOnly(String name) {
    return new IOException("only the server writes its directory: file=" + describe(name));
  }

  /** Has no effect: the server does that. */
  @Override
  public void syncDirectory() {}

  @Override
  public String describe(String name) {
    return name + " of " + server;
  }

  @Override
  public String toString() {
    return server;
  }

  private final class RemoteFile implements DiskFile {
    private final ReadFileRequest request;
    private final long length;

    RemoteFile(ReadFileRequest request, long length) {
      this.request = request;
      this.length = length;
    }

    @Override
    public long length() {
      return length;
    }

    @Override
    public int read(long position, ByteBuffer buffer) throws IOException {
      final int start = buffer.position();
      while (buffer.hasRemaining()) {
        final ByteString part =
            RemoteDisk.this
                .read(
                    request.toBuilder()
                        .setPosition(position + buffer.position() - start)
                        .setLength(Math.min(buffer.remaining(), DirectoryFiles.LENGTH_LIMIT))
                        .build())
                .getContent();
        if (part.isEmpty()) {
          break;
        }
        if (part.size() > buffer.remaining()) {
          throw new IOException("longer than was asked: file=" + describe(request.getName()));
        }
        part.copyTo(buffer);
      }
      return buffer.position() - start;
    }

    @Override
    public void write(long position, ByteBuffer buffer) throws IOException {
      throw readOnly(request.getName());
    }

    /** Has no effect: nothing was written. */
    @Override
    public void sync() {}

    @Override
    public void close() {}
  }
}
