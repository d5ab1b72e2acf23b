package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.coordinator.Coordinator.Answer;
import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.v1.GroupState;
import java.util.Set;
import java.util.TreeSet;
import org.apache.zookeeper.KeeperException.Code;

/**
 * A read of all present groups: first makes a lagging ZooKeeper server catch up, then reads the
 * groups that the view does not know, or knows as not established yet: these may have got an index
 * since. Other changes of known groups come by the watch.
 */
final class Sync extends Request {
  private final Set<String> unread = new TreeSet<>();
  private int attempt;

  Sync(Context context, Answer answer) {
    super(context, answer);
  }

  @Override
  String subject() {
    return "a look at all groups: path=" + context.paths().groups();
  }

  @Override
  void proceed() {
    attempt++;
    unread.clear();
    context.ensemble().sync(context.paths().groups(), inAttempt((code, event) -> list()));
  }

  private void list() {
    final String parent = context.paths().groups();
    context
        .ensemble()
        .children(
            parent,
            inAttempt(
                (code, event) -> {
                  if (code != Code.OK) { // no node of the cluster removes this path
                    fail(code);
                    return;
                  }
                  for (final String child : event.getChildren()) {
                    final String path = parent + '/' + child;
                    final long group = context.paths().groupAt(path);
                    if (group != 0 && !isEstablished(context.view().group(group))) {
                      unread.add(path);
                    }
                  }
                  Set.copyOf(unread).forEach(this::read);
                  endIfRead();
                }));
  }

  private static boolean isEstablished(GroupState known) {
    return known != null && known.hasEstablished();
  }

  private void read(String path) {
    context
        .ensemble()
        .read(
            path,
            inAttempt(
                (code, event) -> {
                  if (code == Code.OK) { // else it was dropped since
                    context
                        .view()
                        .onGroup(context.paths().groupAt(path), event.getData(), event.getStat());
                  }
                  unread.remove(path);
                  endIfRead();
                }));
  }

  private void endIfRead() {
    if (unread.isEmpty()) {
      end(Result.DONE, null);
    }
  }

  /** Passes on a result while the attempt is under way; a failure ends the attempt. */
  private Ensemble.Completion inAttempt(Ensemble.Completion completion) {
    final int of = attempt;
    return (code, event) -> {
      if (of != attempt) {
        return;
      }
      if (code == Code.OK || code == Code.NONODE) {
        completion.onCompleted(code, event);
      } else {
        attempt++;
        fail(code);
      }
    };
  }
}
