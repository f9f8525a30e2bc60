/**
 * One action that several logs recorded counts once: {@link io.tailrace.detection.action.Sighting} is what an event says
 * of the action it records, {@link io.tailrace.detection.action.SessionActions} recognises the actions of one session.
 */
package io.tailrace.detection.action;
