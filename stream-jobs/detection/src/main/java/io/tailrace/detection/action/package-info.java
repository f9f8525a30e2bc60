/**
 * One action that several logs recorded counts once: {@link io.tailrace.detection.action.ActionObservation} is what an event says
 * of the action it records, {@link io.tailrace.detection.action.SessionActionState} recognises the actions of one session.
 */
package io.tailrace.detection.action;
