package dev.ringfetch.index.service;

import dev.ringfetch.index.journal.CopiedLog;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.log.GroupDisk;

/** The part of a node's journal that a group's records are in. */
final class JournalDisk implements GroupDisk {
  private final CopiedLog log;
  private volatile Runnable listener = () -> {};

  JournalDisk(Journal journal) {
    log = journal.copies(() -> listener.run());
  }

  @Override
  public boolean append(byte[] bytes, int offset, int length, boolean isUrgent) {
    return log.append(bytes, offset, length, isUrgent);
  }

  @Override
  public long appended() {
    return log.appended();
  }

  @Override
  public long durable() {
    return log.durable();
  }

  @Override
  public boolean isFailed() {
    return log.isFailed();
  }

  @Override
  public boolean isShort() {
    return log.isShort();
  }

  @Override
  public boolean isFull(int length, int type) {
    return log.isFull(length, type);
  }

  @Override
  public boolean isOverQuota() {
    return log.isOverQuota();
  }

  @Override
  public void onChange(Runnable run) {
    listener = run;
  }

  @Override
  public void close() {
    log.close();
  }
}
