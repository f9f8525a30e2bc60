/**
 * Counts an action that several logs recorded once. {@link io.tailrace.detection.action.ActionObservation} holds the
 * attributes of one event, and {@link io.tailrace.detection.action.SessionActionState} recognizes the actions of one
 * session.
 */
package io.tailrace.detection.action;
