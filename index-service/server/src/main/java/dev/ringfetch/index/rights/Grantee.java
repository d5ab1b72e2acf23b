package dev.ringfetch.index.rights;

import dev.ringfetch.fabric.DomainAdmission;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusException;
import org.jspecify.annotations.Nullable;

/** The user of a call that grants direct reads. */
@SuppressWarnings("exports") // for the DirectAccess service alone
public final class Grantee {
  static final Context.Key<Grantee> KEY = Context.key("ringfetch-grantee");

  private final Rights rights;
  private final User user;

  Grantee(Rights rights, User user) {
    this.rights = rights;
    this.user = user;
  }

  /** That of the present call; null if the server has no users. */
  public static @Nullable Grantee current() {
    return KEY.get();
  }

  /**
   * Refuses a user who may not read all indexes: a grant shows the memory of all of them.
   *
   * @throws StatusException FAILED_PRECONDITION, as the user may read by calls
   */
  public void checkReadsAll() throws StatusException {
    if (!readsAll(user)) {
      throw Status.FAILED_PRECONDITION
          .withDescription(
              "direct reads show the memory of all indexes, which are not all the user's to read:"
                  + " user="
                  + user.name())
          .asException();
    }
  }

  private static boolean readsAll(User user) {
    return user.mayAll(Right.READ);
  }

  /** A user's admission to memory, which ends with the user's right, or before. */
  public static final class Admission implements DomainAdmission {
    private final DomainAdmission admission;
    private Rights.@Nullable Holding holding; // guarded by this
    private boolean isClosed; // guarded by this

    /** Takes over an admission. */
    public Admission(DomainAdmission admission) {
      this.admission = admission;
    }

    /**
     * Ends the admission when the user loses the right; perhaps at once. Called when it can be
     * ended.
     *
     * @param end releases the grant, and so closes this
     */
    public void endWith(Grantee grantee, Runnable end) {
      final Rights.Holding held = grantee.rights.hold(grantee.user, Grantee::readsAll, end);
      synchronized (this) {
        holding = held;
        if (!isClosed) {
          return;
        }
      }
      held.close();
    }

    @Override
    public void close() {
      final Rights.Holding held;
      synchronized (this) {
        isClosed = true;
        held = holding;
      }
      admission.close();
      if (held != null) {
        held.close();
      }
    }
  }
}
