package dev.ringfetch.session.owner;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The mark of a class, field or method that one thread at a time uses, its owner; it needs no lock.
 * On a class it concerns all members, except for those whose documentation names other threads.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.FIELD, ElementType.METHOD})
public @interface OwnedBy {
  /**
   * The owner: {@code "session"}, the thread that holds the token of the session; {@code "driver"},
   * the thread that drives the poller; {@code "backup"}, the backup thread of the poller.
   */
  String value();
}
